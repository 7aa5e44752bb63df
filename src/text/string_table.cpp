// How are a hundred thousand short strings kept? End to end in one block, and found by a hash of their bytes.
#include "text/string_table.h"

#include <bit>
#include <cstring>

namespace ferrox {

void StringTable::reserve(size_t n_strings, size_t n_bytes) {
  ends_.reserve(n_strings + 1);
  bytes_.reserve(n_bytes);
}

void StringTable::append(std::string_view text) {
  bytes_.append(text);
  ends_.push_back(bytes_.size());
}

StringIndex::StringIndex(size_t n_strings) : slots_(std::bit_ceil(n_strings + n_strings / 2 + 2)) {}

size_t StringIndex::locate(const StringTable& table, std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].index != kAbsent) {
    if (slots_[at].hash == hash && table[static_cast<size_t>(slots_[at].index)] == text) break;
    at = (at + 1) & mask;
  }
  return at;
}

void StringIndex::insert(const StringTable& table, int32_t index) {
  const std::string_view text = table[static_cast<size_t>(index)];
  const auto hash = static_cast<uint32_t>(hash_bytes(text));
  Slot& slot = slots_[locate(table, text, hash)];
  if (slot.index == kAbsent) slot = {hash, index};
}

int32_t StringIndex::find(const StringTable& table, std::string_view text) const {
  return slots_[locate(table, text, static_cast<uint32_t>(hash_bytes(text)))].index;
}

uint64_t hash_bytes(std::string_view bytes) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: odd, bits well mixed
  uint64_t hash = bytes.size() * kMultiplier;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  };
  uint64_t word = 0;
  for (; bytes.size() >= sizeof word; bytes.remove_prefix(sizeof word)) {
    std::memcpy(&word, bytes.data(), sizeof word);
    mix(word);
  }
  word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  mix(word);
  return hash ^ (hash >> 29);
}

}  // namespace ferrox
