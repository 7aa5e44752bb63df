// Who wants to know what the prefix tree holds? Told of every whole page of tokens that comes and goes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ferrox {

/// Whole pages that follow one another. Valid during the call.
struct StoredPages {
  std::string_view space;            ///< the namespace
  std::optional<uint64_t> parent;    ///< hash of the page before them; absent: they begin a prompt
  std::span<const uint64_t> hashes;  ///< page_hash of each
  std::span<const int32_t> tokens;   ///< [hashes.size() * page_rows]
  int32_t page_rows;
};

/// Called on the thread that uses the tree, which must not wait. A page is told of by its tokens, whichever attention
/// kinds keep rows of them.
class PrefixObserver {
 public:
  virtual ~PrefixObserver() = default;

  virtual void stored(const StoredPages& pages) = 0;
  virtual void removed(std::span<const uint64_t> hashes) = 0;
  /// Nothing is left.
  virtual void cleared() = 0;
};

}  // namespace ferrox
