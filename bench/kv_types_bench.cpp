// What do K and V of another element type cost a generated token? Types in turn on one model, deep in a context.
//
// kv_types_bench MODEL.gguf [DEPTH [ROUNDS]]: every page is written first, with numbers that every type holds, since an
// untouched page costs no memory traffic. Speed doesn't depend on the numbers.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "arch/arch.h"
#include "base/machine.h"
#include "base/thread_pool.h"
#include "base/units.h"
#include "kv/paged_store.h"
#include "tensor/kv_type.h"

namespace ferrox::bench {
namespace {

constexpr int32_t kPageRows = 32;
constexpr int kTokensARound = 4;

/// One sequence with `depth` positions behind it, in one element type.
class Sequence {
 public:
  Sequence(const ModelShape& shape, DType type, int64_t depth) : depth_(depth) {
    const KvLayout layout{shape.kv_layers, kPageRows, type, type};
    const auto n_pages = static_cast<int32_t>(kv_pages_for(depth + kTokensARound, kPageRows));
    pages_.resize(static_cast<size_t>(n_pages));
    std::iota(pages_.begin(), pages_.end(), 0);
    const auto n_kinds = static_cast<size_t>(attention_kinds(layout.layers).size());
    tables_.assign(n_kinds, pages_);
    store_ = std::make_unique<PagedStore>(*PagedStore::create(layout, std::vector<int32_t>(n_kinds, n_pages)));
    for (const KvLayerView& layer : store_->layers()) {
      const auto rows = static_cast<size_t>(int64_t{n_pages} * kPageRows * layer.n_kv_heads);
      std::memset(layer.k, 0x11, rows * static_cast<size_t>(layer.k_row_bytes));  // small numbers in every type
      std::memset(layer.v, 0x11, rows * static_cast<size_t>(layer.v_row_bytes));
    }
    position_bytes_ = kv_page_bytes(layout) / kPageRows;
  }

  uint64_t position_bytes() const { return position_bytes_; }
  std::vector<double>& seconds() { return seconds_; }

  /// Generates a few tokens at the depth and notes the seconds of one.
  void run_round(Model& model, ThreadPool& pool, float* logits) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kTokensARound; ++i) {
      const int32_t token = 1;
      const int32_t last_row = 0;
      const BatchSegment segment{1, depth_ + i, tables_};
      model.forward({{&token, 1}, {&segment, 1}, {&last_row, 1}}, store_->layers(), pool, logits);
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds_.push_back(taken.count() / kTokensARound);
  }

 private:
  int64_t depth_;
  std::vector<int32_t> pages_;
  std::vector<PageTable> tables_;
  std::unique_ptr<PagedStore> store_;
  uint64_t position_bytes_ = 0;
  std::vector<double> seconds_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(const char* path, int64_t depth, int n_rounds) {
  const auto file = GgufFile::open(path);
  const auto model = file ? load_model(*file, {.max_batch_rows = 16}) : file.error();
  if (!model) {
    fmt::print(stderr, "{}\n", model.error().message);
    return 1;
  }
  ThreadPool pool(available_threads());
  std::vector<float> logits(static_cast<size_t>((*model)->shape().n_vocab));
  std::vector<Sequence> sequences;
  for (const KvType& type : kKvTypes) sequences.emplace_back((*model)->shape(), type.dtype, depth);
  for (int round = 0; round <= n_rounds; ++round) {  // the first warms up
    for (Sequence& sequence : sequences) {
      sequence.run_round(**model, pool, logits.data());
      if (round == 0) sequence.seconds().clear();
    }
  }
  fmt::print("{} positions behind each token, {} rounds in turn\n", depth, n_rounds);
  fmt::print("| K and V | bytes a position | of f16 | KV | tokens/s | of f16 |\n|---|---:|---:|---:|---:|---:|\n");
  for (size_t i = 0; i < sequences.size(); ++i) {
    std::vector<double> ratios;  // of neighbours in time, so that a machine that changes its pace doesn't count
    for (size_t round = 0; round < sequences[i].seconds().size(); ++round) {
      ratios.push_back(sequences[0].seconds()[round] / sequences[i].seconds()[round]);
    }
    const uint64_t bytes = sequences[i].position_bytes();
    fmt::print("| {} | {} | {:.2f} | {} | {:.2f} | {:.2f} |\n", kKvTypes[i].name, bytes,
               static_cast<double>(bytes) / static_cast<double>(sequences[0].position_bytes()),
               format_bytes(bytes * static_cast<uint64_t>(depth)), 1 / median(sequences[i].seconds()), median(ratios));
  }
  return 0;
}

}  // namespace
}  // namespace ferrox::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: kv_types_bench MODEL.gguf [DEPTH [ROUNDS]]\n");
    return 2;
  }
  const int64_t depth = argc > 2 ? std::atoll(argv[2]) : 8192;
  const int n_rounds = argc > 3 ? std::atoi(argv[3]) : 15;
  return ferrox::bench::run(argv[1], std::max<int64_t>(depth, 1), std::max(n_rounds, 1));
}
