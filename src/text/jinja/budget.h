// How much may one render cost? Limits that make every template end.
#pragma once

#include <cstddef>

#include "text/jinja/failure.h"

namespace ferrox::jinja {

/// Ceilings of one render. A conversation of a million tokens through the longest real template stays far below.
struct Limits {
  size_t max_steps = 10'000'000;             ///< nodes evaluated and items visited
  size_t max_work_bytes = size_t{1} << 30;   ///< bytes of strings and lists built or scanned, all together
  size_t max_text_bytes = size_t{64} << 20;  ///< of one string, the result included
  size_t max_depth = 800;                    ///< nodes within nodes while evaluating: bounds the C++ stack
};

/// Containers within containers, so that destroying and printing a value can't exhaust the stack.
inline constexpr size_t kMaxValueDepth = 400;
/// Python's sandbox allows ranges of this length.
inline constexpr size_t kMaxRange = 100'000;

/// What is left of the limits.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}

  const Limits& limits() const { return limits_; }

  void spend_steps(size_t n) {
    if (n > limits_.max_steps - steps_) fail("template takes more than {} steps", limits_.max_steps);
    steps_ += n;
  }
  void spend_bytes(size_t n) {
    if (n > limits_.max_work_bytes - work_bytes_) fail("template works on more than {} bytes", limits_.max_work_bytes);
    work_bytes_ += n;
  }
  /// Asks for a string of that size.
  void spend_text(size_t size_bytes) {
    check_text(size_bytes);
    spend_bytes(size_bytes);
  }
  void check_text(size_t size_bytes) const {
    if (size_bytes > limits_.max_text_bytes) fail("string is longer than {} bytes", limits_.max_text_bytes);
  }

 private:
  Limits limits_;
  size_t steps_ = 0;
  size_t work_bytes_ = 0;
};

}  // namespace ferrox::jinja
