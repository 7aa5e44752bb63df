// Where on paper does a number lie? Axes with round marks: equal steps, or equal factors.
#pragma once

#include <vector>

namespace ferrox {

/// Numbers of several orders of magnitude; the ends are 1, 2 or 5 times a power of ten.
class LogAxis {
 public:
  /// Covers lowest to highest; what is below 0.001 counts as that. `left` and `right`: its ends on paper.
  LogAxis(double lowest, double highest, double left, double right);

  double at(double value) const;
  const std::vector<double>& marks() const { return marks_; }

 private:
  std::vector<double> marks_;
  double left_;
  double right_;
};

/// From 0 to `highest`, at least 0.001.
class LinearAxis {
 public:
  LinearAxis(double highest, double left, double right);

  double at(double value) const;
  /// Between four and ten of them, from 0 up.
  std::vector<double> marks() const;

 private:
  double highest_;
  double left_;
  double right_;
};

}  // namespace ferrox
