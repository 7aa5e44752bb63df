// What do the scores of many tokens add up to? Perplexity with its standard error, and the spread of divergences.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/log_prob_row.h"

namespace ferrox {

struct Estimate {
  double value = 0;
  double error = 0;  ///< standard error; 0 for fewer than two samples
};

/// Mean of samples as they come, by Welford's recurrence: no cancellation however many there are.
class RunningMean {
 public:
  void add(double sample);
  int64_t count() const { return n_; }
  Estimate estimate() const;

 private:
  int64_t n_ = 0;
  double mean_ = 0;
  double squares_ = 0;  ///< sum of squared deviations from the mean
};

/// exp of a mean negative log-likelihood; the error by first order.
Estimate perplexity_of(const Estimate& mean_nll);

/// The sample at `fraction` (0 the lowest, 1 the highest) of sorted ones, interpolated. `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double fraction);

/// Divergences of many rows from a reference.
class DivergenceStats {
 public:
  void add(double nll, const RowDivergence& row);

  int64_t count() const { return kl_.count(); }
  Estimate mean_kl() const { return kl_.estimate(); }
  Estimate same_top() const { return same_top_.estimate(); }  ///< share of rows
  Estimate reference_nll() const { return reference_nll_.estimate(); }
  Estimate log_ratio() const { return log_ratio_.estimate(); }  ///< mean nll - mean reference nll
  Estimate mean_shift() const { return shift_.estimate(); }
  double rms_shift() const;  ///< of the probability of the token that came
  std::vector<double> sorted_kl() const;

 private:
  RunningMean kl_, same_top_, reference_nll_, log_ratio_, shift_, squared_shift_;
  std::vector<double> samples_;
};

}  // namespace ferrox
