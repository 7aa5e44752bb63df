#include "engine/prediction_stats.h"

#include <algorithm>
#include <cmath>

namespace ferrox {

void RunningMean::add(double sample) {
  ++n_;
  const double from_old_mean = sample - mean_;
  mean_ += from_old_mean / static_cast<double>(n_);
  squares_ += from_old_mean * (sample - mean_);
}

Estimate RunningMean::estimate() const {
  if (n_ < 2) return {mean_, 0};
  const auto n = static_cast<double>(n_);
  return {mean_, std::sqrt(squares_ / (n - 1) / n)};
}

Estimate perplexity_of(const Estimate& mean_nll) {
  const double value = std::exp(mean_nll.value);
  return {value, value * mean_nll.error};
}

double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void DivergenceStats::add(double nll, const RowDivergence& row) {
  kl_.add(row.kl);
  same_top_.add(row.same_top ? 1.0 : 0.0);
  reference_nll_.add(row.reference_nll);
  log_ratio_.add(nll - row.reference_nll);
  shift_.add(row.probability_shift);
  squared_shift_.add(row.probability_shift * row.probability_shift);
  samples_.push_back(row.kl);
}

double DivergenceStats::rms_shift() const { return std::sqrt(squared_shift_.estimate().value); }

std::vector<double> DivergenceStats::sorted_kl() const {
  std::vector<double> sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace ferrox
