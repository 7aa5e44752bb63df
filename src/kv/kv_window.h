// How many rows does a cache of a sliding layer keep? The window, and a slack that makes dropping rare.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ferrox {

/// A layer reads `window` trailing positions. Rows are dropped in one bulk move every slack + 1 positions instead of
/// one by one, so the number kept swings between window and window + slack: nothing that searches may price with it.
struct KvWindow {
  int64_t window;  ///< positions, at least 1
  int64_t slack;   ///< rows kept beyond the window at most

  /// Slack of half the window, at least 1.
  static constexpr KvWindow with_default_slack(int64_t window) { return {window, std::max<int64_t>(1, window / 2)}; }

  constexpr int64_t max_rows() const { return window + slack; }

  /// Rows resident once `positions` were consumed and what lies behind was dropped.
  constexpr int64_t rows_after(int64_t positions) const {
    return positions < window ? positions : window + (positions - window) % (slack + 1);
  }
};

}  // namespace ferrox
