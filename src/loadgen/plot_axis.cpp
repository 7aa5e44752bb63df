#include "loadgen/plot_axis.h"

#include <algorithm>
#include <cmath>

namespace ferrox {
namespace {

constexpr double kLeast = 0.001;
constexpr double kSteps[] = {1, 2, 5};

/// The mark number i: 1, 2, 5, 10, 20, ... with 1 at 0.
double round_number(int i) {
  const int decade = i >= 0 ? i / 3 : (i - 2) / 3;
  return kSteps[i - 3 * decade] * std::pow(10.0, decade);
}

/// Computed powers of ten are off by a rounding; a mark that is meant to be the number itself is taken for it.
constexpr double kSlack = 1e-9;

int mark_below(double value) {
  int i = 3 * static_cast<int>(std::floor(std::log10(value))) + 3;
  while (round_number(i) > value * (1 + kSlack)) --i;
  return i;
}

}  // namespace

LogAxis::LogAxis(double lowest, double highest, double left, double right) : left_(left), right_(right) {
  const int first = mark_below(std::max(lowest, kLeast));
  marks_.push_back(round_number(first));
  for (int i = first + 1; marks_.size() < 2 || marks_.back() * (1 + kSlack) < highest; ++i) {
    marks_.push_back(round_number(i));
  }
}

double LogAxis::at(double value) const {
  const double bounded = std::clamp(value, marks_.front(), marks_.back());
  const double share = std::log(bounded / marks_.front()) / std::log(marks_.back() / marks_.front());
  return left_ + share * (right_ - left_);
}

LinearAxis::LinearAxis(double highest, double left, double right)
    : highest_(std::max(highest, kLeast)), left_(left), right_(right) {}

double LinearAxis::at(double value) const { return left_ + std::clamp(value / highest_, 0.0, 1.0) * (right_ - left_); }

std::vector<double> LinearAxis::marks() const {
  const double step = round_number(mark_below(highest_ / 4));
  std::vector<double> marks;
  for (int i = 0; i * step <= highest_ * (1 + kSlack); ++i) marks.push_back(i * step);
  return marks;
}

}  // namespace ferrox
