// What does a step's page work cost a request? Google Benchmark: tables, recycling and all, without the model.
#include <benchmark/benchmark.h>

#include <optional>
#include <vector>

#include "kv/lease.h"

namespace ferrox::bench {
namespace {

KvTerms terms_of_windows(std::vector<int> windows) {
  KvTerms terms;
  terms.windows = std::move(windows);
  terms.page_bytes.assign(terms.windows.size(), 1);
  terms.n_pages.assign(terms.windows.size(), 1 << 20);
  terms.page_rows = 32;
  terms.chunk_rows = 512;
  return terms;
}

/// One decode step of one request after the other, 16 of them, each with up to 100,000 tokens.
void step_requests(benchmark::State& state, std::vector<int> windows) {
  constexpr int kRequests = 16;
  constexpr int64_t kTokens = 100'000;
  const KvTerms terms = terms_of_windows(std::move(windows));
  PageGroups groups(terms.n_pages);
  std::vector<KvLease> leases;
  size_t next = 0;
  for (auto _ : state) {
    if (leases.empty() || leases.back().length() == kTokens) {
      state.PauseTiming();
      leases.clear();
      for (int i = 0; i < kRequests; ++i) leases.push_back(*KvLease::take(groups, terms, 1, kTokens - 1));
      next = 0;
      state.ResumeTiming();
    }
    KvLease& lease = leases[next++ % kRequests];
    benchmark::DoNotOptimize(lease.begin_step(1));
    lease.end_step();
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(step_requests, full, std::vector<int>{0});
BENCHMARK_CAPTURE(step_requests, sliding_512, std::vector<int>{512});
BENCHMARK_CAPTURE(step_requests, alternating_512, std::vector<int>{512, 0});

}  // namespace
}  // namespace ferrox::bench

BENCHMARK_MAIN();
