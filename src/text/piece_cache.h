// Was this word of the text tokenized already? Then its ids are copied instead of computed again.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ferrox {

/// Remembers, during the encoding of one text, which ids its words became. A slot names bytes of the text and ids of
/// the output, so nothing is copied; a newer word takes the slot of an older one.
class PieceCache {
 public:
  /// Sized for a text of `text_bytes`; short texts get no cache, they repeat too little to pay for one.
  explicit PieceCache(size_t text_bytes);

  /// Appends the ids of `piece` to `ids` and returns true, when they are known.
  bool replay(std::string_view piece, std::vector<int32_t>& ids) const;

  /// `piece`, which must outlive the cache, became ids[first_id, ids.size()).
  void remember(std::string_view piece, size_t first_id, const std::vector<int32_t>& ids);

 private:
  struct Slot {
    const char* text = nullptr;
    uint32_t length = 0;
    uint32_t n_ids = 0;
    size_t first_id = 0;
  };
  size_t slot_of(std::string_view piece) const;
  bool is_cached(std::string_view piece) const;

  std::vector<Slot> slots_;  // none, or a power of two
};

}  // namespace ferrox
