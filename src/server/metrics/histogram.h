// How often did something take how long? Counts in fixed buckets, which any thread may add to and read.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace ferrox {

class Histogram {
 public:
  /// `bounds`: upper bounds of the buckets in seconds, ascending, inclusive; they outlive the histogram. Above the last
  /// one is one more bucket.
  explicit Histogram(std::span<const double> bounds);

  void observe(double seconds);

  struct Snapshot {
    std::span<const double> bounds;
    std::vector<uint64_t> counts;  ///< of each bucket alone, one more than bounds
    double sum_s;
  };
  Snapshot snapshot() const;

 private:
  std::span<const double> bounds_;
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_s_ = 0;
};

}  // namespace ferrox
