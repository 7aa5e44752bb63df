#include "cli/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace ferrox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kReadBytes = size_t{256} << 20;
/// Read per claim: small enough to even out threads, large enough for a straight line.
constexpr size_t kPieceBytes = size_t{4} << 20;
constexpr int64_t kRounds = 100'000;  // some 150 us a piece
constexpr int64_t kPiecesPerThread = 40;

double seconds_since(Clock::time_point started) {
  return std::chrono::duration<double>(Clock::now() - started).count();
}

double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<int64_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

MachineLimits median_limits(const std::vector<MachineLimits>& samples) {
  std::vector<double> read, int8, f32;
  for (const MachineLimits& sample : samples) {
    read.push_back(sample.read_bytes);
    int8.push_back(sample.int8_operations);
    f32.push_back(sample.f32_operations);
  }
  return {median(read), median(int8), median(f32)};
}

LimitProbe::LimitProbe(const KernelTable& kernels, int n_threads, std::span<const std::byte> weights)
    : kernels_(kernels), pool_(n_threads), memory_(weights) {
  if (memory_.size() >= kReadBytes) return;
  own_.assign(kReadBytes, std::byte{1});
  memory_ = own_;
}

MachineLimits LimitProbe::measure() {
  return {measure_read(), measure_operations(kernels_.peak_int8), measure_operations(kernels_.peak_f32)};
}

double LimitProbe::measure_read() {
  const size_t n_pieces = kReadBytes / 2 / kPieceBytes;
  if (next_ + n_pieces * kPieceBytes > memory_.size()) next_ = 0;
  const std::byte* first = memory_.data() + next_;
  next_ += n_pieces * kPieceBytes;
  const auto started = Clock::now();
  pool_.run(static_cast<int64_t>(n_pieces), [&](int64_t piece, int) {
    kernels_.peak_read(first + static_cast<size_t>(piece) * kPieceBytes, kPieceBytes);
  });
  return static_cast<double>(n_pieces * kPieceBytes) / seconds_since(started);
}

double LimitProbe::measure_operations(int64_t (*loop)(int64_t)) {
  std::atomic<int64_t> n_operations{0};
  const auto started = Clock::now();
  pool_.run(kPiecesPerThread * pool_.n_threads(), [&](int64_t, int) { n_operations += loop(kRounds); });
  return static_cast<double>(n_operations) / seconds_since(started);
}

}  // namespace ferrox
