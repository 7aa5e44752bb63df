// How are a hundred thousand short strings kept? End to end in one block, and found by a hash of their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ferrox {

/// Strings by index, in one block of memory. Views stay valid until the next append.
class StringTable {
 public:
  void reserve(size_t n_strings, size_t n_bytes);
  void append(std::string_view text);
  std::string_view operator[](size_t index) const {
    return {bytes_.data() + ends_[index], ends_[index + 1] - ends_[index]};
  }
  size_t size() const { return ends_.size() - 1; }

 private:
  std::string bytes_;
  std::vector<size_t> ends_ = {0};  // string i is bytes_[ends_[i], ends_[i + 1])
};

/// A hash of `bytes` for tables in memory.
uint64_t hash_bytes(std::string_view bytes);

/// Finds the index of a string of a StringTable. Open addressing, at most two thirds full.
class StringIndex {
 public:
  static constexpr int32_t kAbsent = -1;

  /// Room for `n_strings` insertions.
  explicit StringIndex(size_t n_strings = 0);

  /// Enters `index`; of equal strings the first entered is the one found. `table` must hold it.
  void insert(const StringTable& table, int32_t index);

  /// Starts bringing in what a following find of `text` will touch.
  void prefetch(std::string_view text) const {
    __builtin_prefetch(&slots_[static_cast<uint32_t>(hash_bytes(text)) & (slots_.size() - 1)]);
  }

  /// The index of `text`, or kAbsent.
  int32_t find(const StringTable& table, std::string_view text) const;

 private:
  struct Slot {
    uint32_t hash = 0;
    int32_t index = kAbsent;
  };
  size_t locate(const StringTable& table, std::string_view text, uint32_t hash) const;

  std::vector<Slot> slots_;  // a power of two of them
};

}  // namespace ferrox
