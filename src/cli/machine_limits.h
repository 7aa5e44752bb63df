// What can this machine do at most? Read bandwidth and arithmetic peaks, measured beside what is judged by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/kernel_table.h"

namespace ferrox {

/// Per second, by all threads together; a multiply-add counts as two operations.
struct MachineLimits {
  double read_bytes = 0;
  double int8_operations = 0;
  double f32_operations = 0;
};

/// The middle of each figure.
MachineLimits median_limits(const std::vector<MachineLimits>& samples);

class LimitProbe {
 public:
  /// Reads are measured over `weights` when they are larger than any cache, so that they come from the same pages as
  /// the model's; over memory of its own when not. `weights` must outlive the probe.
  LimitProbe(const KernelTable& kernels, int n_threads, std::span<const std::byte> weights);

  /// Takes about 30 ms. One after the other, as the machine's clock and neighbours change by the second.
  MachineLimits measure();

 private:
  double measure_read();
  double measure_operations(int64_t (*loop)(int64_t n_rounds));

  const KernelTable& kernels_;
  ThreadPool pool_;
  std::vector<std::byte> own_;
  std::span<const std::byte> memory_;
  size_t next_ = 0;  ///< where the next read begins: never where the last one left its lines
};

}  // namespace ferrox
