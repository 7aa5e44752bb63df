// Which prefixes does the cache give up last? Those that somebody pinned, cached already or not yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kv/prefix_tree.h"

namespace ferrox {

/// One pinned prefix.
struct PrefixPin {
  using Time = std::chrono::steady_clock::time_point;

  uint64_t id;
  std::string space;            ///< the namespace
  std::vector<int32_t> tokens;  ///< whole pages
  std::optional<Time> end;      ///< absent: until it is removed
  int64_t n_cached = 0;         ///< tokens that are cached now
};

/// A pin is a wish, not a reservation: requests that were admitted come first, and a pinned prefix gives way to them
/// when nothing else is left to. What was pinned and isn't cached is pinned when it is computed.
class PrefixPins {
 public:
  static constexpr size_t kMost = 64;

  /// `tree` must outlive this.
  PrefixPins(PrefixTree& tree, int32_t page_rows) : tree_(tree), page_rows_(page_rows) {}

  /// Pins the whole pages of the tokens; the same ones once more get a new end. Errors (kInvalidArgument): less than a
  /// page, more than kMost pins of namespaces that begin with `spaces`, the caller's.
  Result<PrefixPin> add(std::string_view space, std::span<const int32_t> tokens, std::optional<PrefixPin::Time> end,
                        std::string_view spaces = {});

  /// Of namespaces that begin with `spaces`. remove: false when they have no such pin.
  bool remove(std::string_view spaces, uint64_t id);
  std::vector<PrefixPin> list(std::string_view spaces) const;
  size_t size() const { return pins_.size(); }
  size_t size(std::string_view spaces) const;

  /// The tree has got these tokens, or some of them.
  void note_cached(std::string_view space, std::span<const int32_t> tokens);

  /// Removes those that have reached their end.
  void expire(PrefixPin::Time now);

 private:
  PrefixTree& tree_;
  const int32_t page_rows_;
  std::vector<PrefixPin> pins_;  ///< n_cached is not kept here
  uint64_t next_id_ = 1;
};

}  // namespace ferrox
