#include "sched/step_pace.h"

#include <algorithm>

#include "sched/step_planner.h"

namespace ferrox {
namespace {

/// Of the limit: steps of one size don't all take the same time.
constexpr double kAim = 0.9;

/// Of the way to what surely fits: a quick step may have been luck.
constexpr double kWeightOfFaster = 0.4;

}  // namespace

StepPace::StepPace(int64_t max_gap_ms, int32_t max_rows)
    : max_gap_ms_(static_cast<double>(max_gap_ms)),
      least_rows_(std::min(kLeastPromptRows, max_rows)),
      max_rows_(max_rows),
      rows_(max_gap_ms == 0 ? max_rows : least_rows_) {}

int32_t StepPace::most_rows() const { return static_cast<int32_t>(rows_); }

void StepPace::record(int64_t n_rows, double ms) {
  if (max_gap_ms_ == 0 || n_rows < 1 || ms <= 0) return;
  const double fitting = static_cast<double>(n_rows) * kAim * max_gap_ms_ / ms;
  if (ms > max_gap_ms_) {
    rows_ = std::min(rows_, fitting);
  } else if (fitting > rows_) {
    rows_ += kWeightOfFaster * (fitting - rows_);
  }
  rows_ = std::clamp(rows_, least_rows_, max_rows_);
}

}  // namespace ferrox
