// How fast do pages go to host memory and to a folder, and come back? Google Benchmark, on the shape of a 135M model.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/machine.h"
#include "tier/prefix_tiers.h"

namespace ferrox::bench {
namespace {

constexpr int kPageRows = 32;
constexpr size_t kTokens = 10'000;
constexpr size_t kPages = (kTokens + kPageRows - 1) / kPageRows;
constexpr size_t kPiecesPerPage = 60;                   // K and V of 30 layers
constexpr size_t kPieceBytes = 3 * kPageRows * 64 * 2;  // 3 heads of 64, f16
constexpr size_t kStoreBytes = kPages * kPiecesPerPage * kPieceBytes;

/// The system's pages of a store that wasn't touched yet; kTouched: it was.
enum class Pages : int64_t { kTouched, kSmall, kHuge };

/// Memory as the KV store has it: a region for each layer's K and V, pages side by side, touched on first use.
class Store {
 public:
  Store() { renew(Pages::kSmall); }
  ~Store() { munmap(memory_, kStoreBytes); }
  Store(const Store&) = delete;

  void renew(Pages pages) {
    if (memory_ != nullptr) munmap(memory_, kStoreBytes);
    void* const mapped =
        mmap(nullptr, kStoreBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(mapped != MAP_FAILED, "a store is mapped");
    if (pages == Pages::kHuge) madvise(mapped, kStoreBytes, MADV_HUGEPAGE);
    memory_ = static_cast<std::byte*>(mapped);
    pieces_.clear();
    for (size_t page = 0; page < kPages; ++page) {
      for (size_t i = 0; i < kPiecesPerPage; ++i)
        pieces_.emplace_back(memory_ + (i * kPages + page) * kPieceBytes, kPieceBytes);
    }
    sources_.assign(pieces_.begin(), pieces_.end());
  }

  PartTarget target(size_t page) const {
    return {0, std::span(pieces_).subspan(page * kPiecesPerPage, kPiecesPerPage)};
  }
  PartSource source(size_t page) const {
    return {0, std::span(sources_).subspan(page * kPiecesPerPage, kPiecesPerPage)};
  }

 private:
  std::byte* memory_ = nullptr;
  std::vector<std::span<std::byte>> pieces_;
  std::vector<std::span<const std::byte>> sources_;
};

struct Prefix {
  std::vector<int32_t> tokens = std::vector<int32_t>(kPages * kPageRows);
  std::vector<PageKey> keys;
  explicit Prefix(int32_t seed) {
    std::iota(tokens.begin(), tokens.end(), seed);
    keys.push_back(root_key({}, {}));
    for (size_t i = 0; i < kPages; ++i) keys.push_back(next_key(keys.back(), page(i)));
  }
  std::span<const int32_t> page(size_t i) const { return std::span(tokens).subspan(i * kPageRows, kPageRows); }
  EntryName name(size_t i) const {
    return {EntryKind::kPage, keys[i + 1], keys[i], page(i), static_cast<int64_t>(i) * kPageRows};
  }
};

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "ferrox-tier-XXXXXX").string();
  Folder() { CHECK(mkdtemp(path.data()) != nullptr, "a folder is made"); }
  ~Folder() { std::filesystem::remove_all(path); }
};

TierLayout layout() { return {.model = {}, .page_rows = kPageRows, .part_bytes = {kPiecesPerPage * kPieceBytes}}; }

std::unique_ptr<PrefixTiers> open_tiers(uint64_t host_bytes, const std::string& folder) {
  TierOptions options;
  options.host_bytes = host_bytes;
  options.disk_folder = folder;
  options.disk_bytes = folder.empty() ? 0 : uint64_t{4} << 30;
  options.staging_bytes = uint64_t{1} << 30;
  return std::move(*PrefixTiers::open(layout(), options));
}

void put_all(PrefixTiers& tiers, const Prefix& prefix, const Store& store) {
  for (size_t i = 0; i < kPages; ++i) {
    const PartSource part = store.source(i);
    CHECK(tiers.put(prefix.name(i), std::span(&part, 1)) == PutOutcome::kStored, "there is room");
  }
}

void load_all(PrefixTiers& tiers, const Prefix& prefix, const Store& store, ThreadPool& pool) {
  std::vector<PartTarget> targets;
  for (size_t i = 0; i < kPages; ++i) targets.push_back(store.target(i));
  std::vector<LoadRequest> requests;
  for (size_t i = 0; i < kPages; ++i) requests.push_back({prefix.keys[i + 1], std::span(&targets[i], 1)});
  CHECK(tiers.find(std::span(prefix.keys).subspan(1)).size() == kPages, "all is held");
  tiers.load(requests, pool);
  for (const LoadRequest& request : requests) CHECK(request.outcome == LoadOutcome::kGood, "all is good");
}

void count_tokens(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kStoreBytes));
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kTokens, benchmark::Counter::kIsRate);
}

/// 10,000 tokens from memory or from the page cache into a store.
void load(benchmark::State& state, bool from_disk) {
  const Folder folder;
  const auto tiers = open_tiers(from_disk ? 0 : 2 * kStoreBytes, from_disk ? folder.path : "");
  const Prefix prefix(0);
  Store store;
  put_all(*tiers, prefix, store);
  tiers->flush();
  ThreadPool pool(static_cast<int>(state.range(0)));
  load_all(*tiers, prefix, store, pool);
  const auto pages = static_cast<Pages>(state.range(1));
  for (auto _ : state) {
    state.PauseTiming();
    if (pages != Pages::kTouched) store.renew(pages);
    state.ResumeTiming();
    load_all(*tiers, prefix, store, pool);
  }
  count_tokens(state);
}

/// What the calling thread pays for 10,000 tokens that go to host memory.
void put(benchmark::State& state) {
  const auto tiers = open_tiers(kStoreBytes + (kStoreBytes >> 3), "");
  Store store;
  int32_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Prefix prefix(seed++);
    state.ResumeTiming();
    put_all(*tiers, prefix, store);
  }
  count_tokens(state);
}

/// Keys of 10,000 tokens, and looking for them.
void keys(benchmark::State& state) {
  int32_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(Prefix(seed++));
}
void find(benchmark::State& state) {
  const auto tiers = open_tiers(2 * kStoreBytes, "");
  const Prefix prefix(0);
  put_all(*tiers, prefix, Store());
  for (auto _ : state) benchmark::DoNotOptimize(tiers->find(std::span(prefix.keys).subspan(1)));
}

BENCHMARK_CAPTURE(load, disk, true)
    ->ArgNames({"threads", "pages"})
    ->ArgsProduct({{1, 2}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(load, host, false)
    ->ArgNames({"threads", "pages"})
    ->ArgsProduct({{1, 2}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(put)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(keys)->Unit(benchmark::kMicrosecond);
BENCHMARK(find)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ferrox::bench

BENCHMARK_MAIN();
