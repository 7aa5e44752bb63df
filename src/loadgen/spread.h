// How are many measurements told in few numbers?
#pragma once

#include <cstddef>
#include <vector>

namespace ferrox {

/// All 0 where there is no sample.
struct Spread {
  size_t n = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

/// The least of the samples that at least `percent` of a hundred of them don't exceed (the nearest rank). `sorted`
/// ascends and isn't empty; `percent` is from 1 to 100.
double percentile_of_sorted(const std::vector<double>& sorted, size_t percent);

Spread spread_of(std::vector<double> samples);

}  // namespace ferrox
