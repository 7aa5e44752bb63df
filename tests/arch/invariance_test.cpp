// Does a row's result depend on its own sequence alone? In every weight format, for every batch, chunking, page size
// and number of threads, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/loaded_model.h"
#include "support/model_runner.h"

namespace ferrox {
namespace {

using testing::even_chunks;
using testing::LoadedModel;
using testing::run_sequence;
using testing::SequencePages;
using testing::TinyModel;

std::vector<int32_t> random_tokens(int64_t n, int n_vocab, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < n; ++i) tokens.push_back(static_cast<int32_t>(rng() % static_cast<uint32_t>(n_vocab)));
  return tokens;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

/// Widths that every format's blocks divide; heads twice as wide as n_embd / n_heads, as Mistral-Nemo's are wider.
TinyModel wide_headed(DType weights) {
  return {.weights = weights,
          .n_layers = 1,
          .n_embd = 256,
          .n_heads = 4,
          .n_kv_heads = 2,
          .head_dim = 128,
          .n_ff = 256,
          .n_vocab = 48};
}

/// A matrix of the models: every format in every size of batch.
TEST(Invariance, EveryFormatInEveryBatchSize) {
  for (const auto* const* format = all_format; *format != nullptr; ++format) {
    SCOPED_TRACE((*format)->name);
    const LoadedModel loaded(wide_headed((*format)->dtype));
    const std::vector<int32_t> tokens = random_tokens(17, 48, 1);
    ThreadPool pool(1);
    const auto whole = run_sequence(*loaded.model, tokens, {17}, 32, DType::kF16, pool);
    ASSERT_TRUE(all_finite(whole));
    EXPECT_NE(std::vector<float>(whole.begin(), whole.begin() + 48), std::vector<float>(whole.end() - 48, whole.end()));
    for (const int32_t chunk : {1, 2, 3, 5, 8, 16}) {
      ASSERT_EQ(run_sequence(*loaded.model, tokens, even_chunks(17, chunk), 4, DType::kF16, pool), whole)
          << "chunks of " << chunk;
    }
  }
}

TEST(Invariance, EveryBatchSizeUpToSixteen) {
  for (const DType dtype : {DType::kQ4_K, DType::kQ8_0, DType::kF32}) {
    const LoadedModel loaded(wide_headed(dtype));
    const std::vector<int32_t> tokens = random_tokens(48, 48, 1);
    ThreadPool pool(1);
    const auto whole = run_sequence(*loaded.model, tokens, {48}, 64, DType::kF32, pool);
    for (int32_t chunk = 1; chunk <= 16; ++chunk) {
      ASSERT_EQ(run_sequence(*loaded.model, tokens, even_chunks(48, chunk), 16, DType::kF32, pool), whole) << chunk;
    }
  }
}

TEST(Invariance, ThreadsDontChangeBits) {
  for (const std::string family : {"llama", "qwen2", "qwen3", "gemma2"}) {
    for (const int n_experts : {0, 4}) {
      const LoadedModel loaded({.architecture = family,
                                .weights = DType::kQ5_0,
                                .n_layers = 2,
                                .n_experts = n_experts,
                                .window = family == "gemma2" ? 5 : 0});
      const std::vector<int32_t> tokens = random_tokens(30, 80, 2);
      ThreadPool one(1);
      const auto whole = run_sequence(*loaded.model, tokens, {30}, 16, DType::kF32, one);
      ASSERT_TRUE(all_finite(whole));
      for (const int n_threads : {2, 3, 4}) {
        ThreadPool pool(n_threads);
        ASSERT_EQ(run_sequence(*loaded.model, tokens, {7, 1, 20, 2}, 16, DType::kF32, pool), whole) << n_threads;
      }
    }
  }
}

/// Past the positions that one span of attention tiles covers.
TEST(Invariance, APassThatWasGivenUpAnywhereLeavesTheNextAlone) {
  for (const int n_experts : {0, 4}) {
    const LoadedModel loaded({.weights = DType::kQ8_0, .n_layers = 2, .n_experts = n_experts});
    const std::vector<int32_t> tokens = random_tokens(9, 80, 3);
    ThreadPool pool(2);
    const auto whole = run_sequence(*loaded.model, tokens, {9}, 16, DType::kF32, pool);
    const SequencePages pages(loaded.model->shape(), 9, 16, DType::kF32);
    const BatchSegment segment{9, 0, pages.tables()};
    const int32_t last = 8;
    std::vector<float> logits(80);
    int n_asked = 0;
    int n_allowed = 0;
    const Batch batch{tokens, {&segment, 1}, {&last, 1}, [&] { return n_asked++ == n_allowed; }};
    while (!loaded.model->forward(batch, pages.views(), pool, logits.data())) {
      EXPECT_EQ(logits, std::vector<float>(80)) << "given up before the last layer's end";
      ++n_allowed;
      n_asked = 0;
    }
    EXPECT_EQ(n_allowed, 4) << "twice in each layer";
    EXPECT_EQ(logits, std::vector<float>(whole.end() - 80, whole.end()));
  }
}

TEST(Invariance, LongContextsInAnyChunks) {
  const LoadedModel loaded({.weights = DType::kQ4_0, .n_layers = 1}, 700);
  const std::vector<int32_t> tokens = random_tokens(600, 80, 3);
  ThreadPool pool(2);
  const auto whole = run_sequence(*loaded.model, tokens, {600}, 64, DType::kF16, pool);
  ASSERT_EQ(run_sequence(*loaded.model, tokens, {1, 63, 448, 1, 1, 86}, 16, DType::kF16, pool), whole);
  ASSERT_EQ(run_sequence(*loaded.model, tokens, even_chunks(600, 50), 1, DType::kF16, pool), whole);
  for (const int n_threads : {1, 5}) {  // how many pieces a context is cut into
    ThreadPool other(n_threads);
    ASSERT_EQ(run_sequence(*loaded.model, tokens, {511, 1, 1, 87}, 16, DType::kF16, other), whole) << n_threads;
  }
}

TEST(Invariance, EveryElementTypeOfKvMemory) {
  const LoadedModel loaded({.n_layers = 1, .n_embd = 128, .head_dim = 32}, 128);
  const std::vector<int32_t> tokens = random_tokens(90, 80, 3);
  ThreadPool pool(2);
  for (const KvType& type : kKvTypes) {
    const auto whole = run_sequence(*loaded.model, tokens, {90}, 64, type.dtype, pool);
    ASSERT_TRUE(all_finite(whole));
    ASSERT_EQ(run_sequence(*loaded.model, tokens, {1, 63, 1, 25}, 16, type.dtype, pool), whole) << type.name;
    ASSERT_EQ(run_sequence(*loaded.model, tokens, even_chunks(90, 7), 1, type.dtype, pool), whole) << type.name;
  }
}

/// Ragged batches of three sequences, each row like in a run alone.
TEST(Invariance, SequencesOfOneBatchDontMeet) {
  constexpr int kVocab = 80;
  const LoadedModel loaded({.weights = DType::kQ5_1, .n_experts = 4});
  ThreadPool pool(2);
  // One store for all: sequence s owns every third page, so a wrong page is another sequence's.
  const int n_sequences = 3;
  const SequencePages store(loaded.model->shape(), 3 * 64, 8, DType::kF32);
  std::vector<std::vector<int32_t>> tables(n_sequences);
  const PageTable pages = store.tables().front();
  for (size_t i = 0; i < pages.size(); ++i) tables[i % n_sequences].push_back(pages[i]);
  const std::vector<PageTable> sequence_tables(tables.begin(), tables.end());
  std::vector<std::vector<int32_t>> tokens;
  std::vector<std::vector<float>> alone;
  for (int s = 0; s < n_sequences; ++s) {
    tokens.push_back(random_tokens(20 + 15 * s, kVocab, static_cast<uint32_t>(10 + s)));
    alone.push_back(run_sequence(*loaded.model, tokens.back(), {static_cast<int32_t>(tokens.back().size())}, 16,
                                 DType::kF32, pool));
  }
  std::vector<size_t> done(n_sequences, 0);
  std::mt19937 rng(5);
  while (done != std::vector<size_t>{20, 35, 50}) {
    std::vector<int32_t> batch_tokens;
    std::vector<BatchSegment> segments;
    std::vector<int32_t> logit_rows;
    std::vector<std::pair<int, size_t>> wanted;  // sequence and position of each logit row
    for (int s = 0; s < n_sequences; ++s) {
      const size_t left = tokens[static_cast<size_t>(s)].size() - done[static_cast<size_t>(s)];
      const size_t n = std::min<size_t>(left, rng() % 6);
      if (n == 0) continue;
      segments.push_back({static_cast<int32_t>(n),
                          static_cast<int64_t>(done[static_cast<size_t>(s)]),
                          {&sequence_tables[static_cast<size_t>(s)], 1}});
      for (size_t i = 0; i < n; ++i) {
        const size_t position = done[static_cast<size_t>(s)]++;
        if (rng() % 3 != 0) {
          wanted.emplace_back(s, position);
          logit_rows.push_back(static_cast<int32_t>(batch_tokens.size()));
        }
        batch_tokens.push_back(tokens[static_cast<size_t>(s)][position]);
      }
    }
    std::vector<float> logits(logit_rows.size() * kVocab);
    loaded.model->forward({batch_tokens, segments, logit_rows}, store.views(), pool, logits.data());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto& [s, position] = wanted[i];
      const float* want = alone[static_cast<size_t>(s)].data() + position * kVocab;
      ASSERT_TRUE(std::equal(want, want + kVocab, logits.data() + i * kVocab))
          << "sequence " << s << ", position " << position;
    }
  }
}

}  // namespace
}  // namespace ferrox
