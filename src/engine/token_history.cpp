#include "engine/token_history.h"

#include <algorithm>

namespace ferrox {

void PenaltyWindow::push(std::span<const int32_t> tokens) {
  if (window_ == 0) return;
  ++counts_[tokens.back()];
  if (window_ < 0 || tokens.size() <= static_cast<size_t>(window_)) return;
  const auto oldest = counts_.find(tokens[tokens.size() - 1 - static_cast<size_t>(window_)]);
  if (--oldest->second == 0) counts_.erase(oldest);
}

BreakerTracker::BreakerTracker(const std::vector<std::string>& breakers) {
  for (const std::string& breaker : breakers) {
    if (breaker.empty()) continue;
    breakers_.push_back(breaker);
    longest_ = std::max(longest_, breaker.size());
  }
}

bool BreakerTracker::is_in(std::string_view bytes) const {
  return std::any_of(breakers_.begin(), breakers_.end(),
                     [&](const std::string& breaker) { return bytes.find(breaker) != std::string_view::npos; });
}

void BreakerTracker::push(std::string_view bytes) {
  ++n_since_;
  if (breakers_.empty()) return;
  tail_ += bytes;
  const auto ends_here = [&](const std::string& breaker) {
    // Only a breaker that ends among the new bytes counts; the older ones were seen when they came.
    const size_t n_old = tail_.size() - bytes.size();
    const size_t first = n_old >= breaker.size() - 1 ? n_old - (breaker.size() - 1) : 0;
    return tail_.find(breaker, first) != std::string::npos;
  };
  if (std::any_of(breakers_.begin(), breakers_.end(), ends_here)) n_since_ = 0;
  tail_.erase(0, tail_.size() - std::min(tail_.size(), longest_ - 1));
}

}  // namespace ferrox
