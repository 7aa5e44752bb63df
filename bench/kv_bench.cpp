// What does page work cost? Google Benchmark: a step of a request with tables and recycling, and a prompt that is found
// in the prefix tree and kept there; without the model.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "kv/lease.h"
#include "kv/prefix_tree.h"

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

/// One prompt of 1,024 tokens after another, found and kept in a tree that holds state.range(0) tokens: half of it is
/// in the tree, the other half is new and makes room for itself. Time a page of the prompt.
void find_and_keep(benchmark::State& state) {
  constexpr int32_t kRows = 32;
  constexpr int64_t kPrompt = 1024;
  constexpr int64_t kPages = kPrompt / kRows;
  const int64_t n_kept = state.range(0) / kRows;
  KvTerms terms;
  terms.windows = {0};
  terms.n_pages = {static_cast<int32_t>(n_kept + kPages)};
  terms.page_bytes = {1};
  terms.page_rows = kRows;
  PageGroups groups(terms.n_pages, PageGroups::State::kNone);
  PrefixTree tree(groups, terms);
  std::minstd_rand random(1);
  std::vector<int32_t> tokens(kPrompt);
  const auto ask = [&](uint32_t beginning) {
    std::minstd_rand known(beginning);
    std::generate_n(tokens.begin(), kPrompt / 2, [&] { return static_cast<int32_t>(known() % 50'000); });
    std::generate(tokens.begin() + kPrompt / 2, tokens.end(), [&] { return static_cast<int32_t>(random() % 50'000); });
    const int64_t n_found = tree.match("", tokens, kPrompt - 1).n_usable;
    benchmark::DoNotOptimize(n_found);
    const int64_t n_missing = kPages - groups.pool(0).n_free();
    if (n_missing > 0) tree.evict(0, n_missing);
    std::vector<int32_t> pages;
    groups.pool(0).try_acquire(kPages, pages);
    tree.insert("", tokens, std::vector<std::vector<int32_t>>{pages});
    groups.pool(0).release(pages);
  };
  constexpr uint32_t kBeginnings = 64;
  for (int64_t i = 0; i < 4 * n_kept / kPages; ++i) ask(static_cast<uint32_t>(i % kBeginnings + 1));
  uint32_t i = 0;
  for (auto _ : state) ask(i++ % kBeginnings + 1);
  state.SetItemsProcessed(state.iterations() * kPages);
  state.counters["tokens"] = static_cast<double>(tree.counts().n_tokens);
}

BENCHMARK(find_and_keep)->Arg(10'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK_CAPTURE(step_requests, full, std::vector<int>{0});
BENCHMARK_CAPTURE(step_requests, sliding_512, std::vector<int>{512});
BENCHMARK_CAPTURE(step_requests, alternating_512, std::vector<int>{512, 0});

}  // namespace
}  // namespace ferrox::bench

BENCHMARK_MAIN();
