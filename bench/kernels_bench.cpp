// How near do the kernels come to what one core can do? Google Benchmark; each product prints its share of the peak.
//
// kernels_bench --benchmark_filter='product/Q4_K/.*'   FERROX_ISA picks the table. One thread, weights in its cache.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <chrono>
#include <vector>

#include "bench/random_blocks.h"
#include "kernels/dispatch.h"
#include "tensor/format.h"

namespace ferrox::bench {
namespace {

constexpr int64_t kRows = 256;  // of weights: at 2,048 wide even 8-bit ones stay in a cache of 1 MiB
constexpr int64_t kWidth = 2048;

/// Operations a second of a loop that does nothing else.
double measure_peak(int64_t (*loop)(int64_t)) {
  using Clock = std::chrono::steady_clock;
  double best = 0.0;
  for (int i = 0; i < 20; ++i) {
    const auto started = Clock::now();
    const auto n_operations = static_cast<double>(loop(1'000'000));
    best = std::max(best, n_operations / std::chrono::duration<double>(Clock::now() - started).count());
  }
  return best;
}

template <class T>
struct Aligned {
  explicit Aligned(int64_t n) : values(static_cast<T*>(::operator new(sizeof(T) * static_cast<size_t>(n), kAlign))) {}
  ~Aligned() { ::operator delete(values, kAlign); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  static constexpr std::align_val_t kAlign{64};
  T* values;
};

void run_product(benchmark::State& state, const KernelTable& kernels, const FormatKernels& format, double peak) {
  const int64_t m = state.range(0);
  const FormatInfo& info = *find_format(format.dtype);
  const int64_t row_bytes = kWidth / info.block_elements * info.block_bytes;
  std::vector<std::byte> weights(static_cast<size_t>(kRows * row_bytes));
  if (const auto filled = fill_random_blocks(info, 0.1f, 1, weights); !filled) {
    state.SkipWithError(filled.error().message.c_str());
    return;
  }
  std::vector<float> x(static_cast<size_t>(m * kWidth));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7919 % 2001) - 1000) * 1e-3f;
  const Aligned<ActBlock> acts(m * kWidth / kKBlock);
  for (int64_t row = 0; row < m && format.act_kind != ActKind::kFloat; ++row) {
    kernels.quantize(x.data() + row * kWidth, kWidth, format.act_kind, acts.values + row, m);
  }
  const Aligned<float> scratch(product_scratch_floats(m));
  std::vector<float> out(static_cast<size_t>(m * kRows));
  const ProductArgs args{.weights = weights.data(),
                         .row_bytes = row_bytes,
                         .n_rows = kRows,
                         .k = kWidth,
                         .acts = acts.values,
                         .acts_stride = m,
                         .x = x.data(),
                         .x_stride = kWidth,
                         .m = m,
                         .out = out.data(),
                         .out_stride = kRows,
                         .scratch = scratch.values};
  for (auto _ : state) {
    format.product(args);
    benchmark::ClobberMemory();
  }
  const double n_operations = 2.0 * static_cast<double>(m * kRows * kWidth * state.iterations());
  state.counters["share"] = benchmark::Counter(n_operations / peak, benchmark::Counter::kIsRate);
  state.counters["GOPS"] = benchmark::Counter(n_operations * 1e-9, benchmark::Counter::kIsRate);
  state.SetBytesProcessed(state.iterations() * kRows * row_bytes);
}

void register_products(const KernelTable& kernels) {
  const double peak_int8 = measure_peak(kernels.peak_int8);
  const double peak_f32 = measure_peak(kernels.peak_f32);
  fmt::print("{}: one core does {:.0f} int8 and {:.0f} f32 GOPS\n", kernels.name, peak_int8 * 1e-9, peak_f32 * 1e-9);
  for (const FormatKernels* format = kernels.formats; format->product != nullptr; ++format) {
    const double peak = format->act_kind == ActKind::kFloat ? peak_f32 : peak_int8;
    const std::string name = fmt::format("product/{}", find_format(format->dtype)->name);
    benchmark::RegisterBenchmark(name.c_str(), run_product, kernels, *format, peak)->Arg(1)->Arg(4)->Arg(16)->Arg(512);
  }
}

}  // namespace
}  // namespace ferrox::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const auto kernels = ferrox::active_kernels();
  if (!kernels) {
    fmt::print(stderr, "{}\n", kernels.error().message);
    return 1;
  }
  ferrox::bench::register_products(**kernels);
  benchmark::RunSpecifiedBenchmarks();
}
