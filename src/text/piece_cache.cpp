// Was this word of the text tokenized already? Then its ids are copied instead of computed again.
#include "text/piece_cache.h"

#include <algorithm>
#include <bit>

#include "text/string_table.h"

namespace ferrox {
namespace {

constexpr size_t kMinTextBytes = 512;
constexpr size_t kBytesPerSlot = 16;   // a few words of English
constexpr size_t kMaxSlots = 8192;     // 256 KiB: stays in L2
constexpr size_t kMaxPieceBytes = 64;  // longer ones hardly recur

}  // namespace

PieceCache::PieceCache(size_t text_bytes)
    : slots_(text_bytes < kMinTextBytes ? 0 : std::min(kMaxSlots, std::bit_ceil(text_bytes / kBytesPerSlot))) {}

bool PieceCache::is_cached(std::string_view piece) const { return !slots_.empty() && piece.size() <= kMaxPieceBytes; }

size_t PieceCache::slot_of(std::string_view piece) const { return hash_bytes(piece) & (slots_.size() - 1); }

bool PieceCache::replay(std::string_view piece, std::vector<int32_t>& ids) const {
  if (!is_cached(piece)) return false;
  const Slot& slot = slots_[slot_of(piece)];
  if (slot.text == nullptr || std::string_view(slot.text, slot.length) != piece) return false;
  const size_t old_size = ids.size();
  ids.resize(old_size + slot.n_ids);
  std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(slot.first_id), slot.n_ids,
              ids.begin() + static_cast<std::ptrdiff_t>(old_size));
  return true;
}

void PieceCache::remember(std::string_view piece, size_t first_id, const std::vector<int32_t>& ids) {
  if (!is_cached(piece)) return;
  slots_[slot_of(piece)] = {piece.data(), static_cast<uint32_t>(piece.size()),
                            static_cast<uint32_t>(ids.size() - first_id), first_id};
}

}  // namespace ferrox
