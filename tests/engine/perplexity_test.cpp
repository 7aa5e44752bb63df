// Do perplexity and KL divergence follow from the logits as their definitions say, row by row in double precision?
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/evaluator.h"
#include "engine/log_prob_row.h"
#include "engine/prediction_stats.h"
#include "engine/text_chunks.h"
#include "support/loaded_model.h"

namespace ferrox {
namespace {

/// log softmax in long double.
std::vector<double> log_softmax(std::span<const float> logits) {
  long double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<long double>(logit));
  std::vector<double> out;
  for (const float logit : logits) out.push_back(static_cast<double>(logit - std::log(sum)));
  return out;
}

std::vector<float> random_logits(uint32_t seed, size_t n, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.5f, spread);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

std::vector<uint16_t> packed(std::span<const float> logits) {
  std::vector<uint16_t> words(static_cast<size_t>(packed_row_words(static_cast<int64_t>(logits.size()))), 0xffff);
  pack_log_probs(logits, row_norm(logits), words);
  return words;
}

/// Half a code's step, and the float rounding of numbers below 64.
constexpr double kHalfStep = 16.0 / 65535 / 2 + 64 * 0x1p-23;

TEST(LogProbRow, PackedLogProbabilitiesLieWithinHalfAStep) {
  for (const size_t n : {1u, 2u, 7u, 80u, 1001u}) {
    const auto logits = random_logits(static_cast<uint32_t>(n), n, 2.0f);
    const auto exact = log_softmax(logits);
    const auto words = packed(logits);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(packed_log_prob(words, static_cast<int64_t>(i)), exact[i], kHalfStep) << n << " " << i;
    }
  }
}

TEST(LogProbRow, FarTokensGetTheLowestCode) {
  const std::vector<float> logits = {30, 0, 13.9f, 20};
  const auto words = packed(logits);
  EXPECT_NEAR(packed_log_prob(words, 1), -16, 1e-3);
  EXPECT_NEAR(packed_log_prob(words, 2), -16, 1e-3);
  EXPECT_NEAR(packed_log_prob(words, 3), -10, 1e-3);
}

TEST(LogProbRow, DivergenceIsTheSumOfItsDefinition) {
  for (const float spread : {0.1f, 1.0f, 2.0f}) {
    const auto logits = random_logits(3, 500, spread);
    const auto reference = random_logits(4, 500, spread);
    const auto p = log_softmax(logits);
    const auto q = log_softmax(reference);
    double kl = 0;
    for (size_t i = 0; i < p.size(); ++i) kl += std::exp(q[i]) * (q[i] - p[i]);
    const auto found = row_divergence(logits, row_norm(logits), packed(reference), 11);
    // A log-probability that is off by e changes its term by p e (1 + |log ratio|), ratios here being below 10.
    EXPECT_NEAR(found.kl, kl, kHalfStep * 11);
    EXPECT_NEAR(found.reference_nll, -q[11], kHalfStep);
    EXPECT_NEAR(found.probability_shift, std::exp(p[11]) - std::exp(q[11]), kHalfStep);
    EXPECT_GT(kl, 1e-3);
    EXPECT_FALSE(found.same_top);
  }
}

TEST(LogProbRow, ARowIsItsOwnReference) {
  const auto logits = random_logits(5, 300, 1.0f);
  const auto found = row_divergence(logits, row_norm(logits), packed(logits), 0);
  EXPECT_NEAR(found.kl, 0, kHalfStep);
  EXPECT_TRUE(found.same_top);
}

TEST(PredictionStats, MeanAndErrorAreTheTextbooks) {
  RunningMean mean;
  EXPECT_EQ(mean.estimate().error, 0);
  for (const double sample : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) mean.add(sample);
  EXPECT_DOUBLE_EQ(mean.estimate().value, 1e9 + 10);
  EXPECT_DOUBLE_EQ(mean.estimate().error, std::sqrt(30.0 / 4));  // variance 30 of four
  const Estimate perplexity = perplexity_of({std::log(8.0), 0.25});
  EXPECT_DOUBLE_EQ(perplexity.value, 8);
  EXPECT_DOUBLE_EQ(perplexity.error, 2);
}

TEST(PredictionStats, QuantilesLieBetweenNeighbours) {
  const std::vector<double> sorted = {1, 2, 4, 8, 16};
  EXPECT_EQ(quantile(sorted, 0), 1);
  EXPECT_EQ(quantile(sorted, 0.5), 4);
  EXPECT_EQ(quantile(sorted, 0.625), 6);
  EXPECT_EQ(quantile(sorted, 1), 16);
  EXPECT_EQ(quantile({3}, 0.99), 3);
}

TEST(TextChunks, WholeChunksAreCutOffTheFront) {
  std::vector<int32_t> tokens(23);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i);
  const auto chunks = cut_chunks(tokens, 7, 0);
  ASSERT_TRUE(chunks);
  EXPECT_EQ(chunks->n_chunks, 3);
  EXPECT_EQ(chunks->chunk(2).front(), 14);
  EXPECT_EQ(chunks->n_scored(), 3);  // tokens 4, 5 and 6, by rows 3, 4 and 5
  EXPECT_EQ(cut_chunks(tokens, 7, 2)->n_chunks, 2);
  EXPECT_FALSE(cut_chunks(tokens, 24, 0));
  EXPECT_FALSE(cut_chunks(tokens, 3, 0));
}

/// The whole text at once through the model, and the definition; long enough that rows come in several parts.
TEST(Perplexity, FollowsFromTheLogitsOfEachChunk) {
  const testing::LoadedModel model({});
  const int64_t context = 300;
  std::vector<int32_t> tokens;
  for (int i = 0; i < 2 * context + 5; ++i) tokens.push_back((i * i + 3 * i) % 80);
  const auto chunks = cut_chunks(tokens, context, 0);
  ASSERT_TRUE(chunks);
  constexpr int32_t kBos = 1;
  RunningMean expected;
  for (int64_t c = 0; c < 2; ++c) {
    auto evaluator = Evaluator::load(*model.file, {.n_threads = 1, .n_positions = context});
    ASSERT_TRUE(evaluator);
    std::vector<int32_t> chunk(chunks->chunk(c).begin(), chunks->chunk(c).end());
    chunk[0] = kBos;
    const auto logits = *evaluator->append(chunk, Evaluator::Logits::kAll);
    for (size_t row = 150; row + 1 < 300; ++row) {
      expected.add(-log_softmax(logits.subspan(row * 80, 80))[static_cast<size_t>(chunk[row + 1])]);
    }
  }
  auto evaluator = Evaluator::load(*model.file, {.n_threads = 2, .n_positions = context, .batch_rows = 64});
  ASSERT_TRUE(evaluator);
  RunningMean found;
  const auto predicted = predict_chunks(*evaluator, *chunks, kBos, [&](const PredictedRows& rows) -> Result<void> {
    for (size_t i = 0; i < rows.targets.size(); ++i) {
      const auto logits = rows.logits.subspan(i * 80, 80);
      found.add(row_norm(logits).log_sum_exp - static_cast<double>(logits[static_cast<size_t>(rows.targets[i])]));
    }
    return {};
  });
  ASSERT_TRUE(predicted) << predicted.error().message;
  EXPECT_EQ(found.count(), 2 * 149);
  EXPECT_EQ(expected.count(), found.count());
  EXPECT_NEAR(found.estimate().value, expected.estimate().value, 1e-6);  // float exp of logits below 8
  EXPECT_NEAR(found.estimate().error, expected.estimate().error, 1e-6);
  EXPECT_GT(found.estimate().error, 1e-3);
}

/// Sequences that step together don't see each other: the same bits as one alone.
TEST(Evaluator, SequencesStepTogether) {
  const testing::LoadedModel model({});
  constexpr int32_t kSequences = 5;
  auto together = Evaluator::load(*model.file, {.n_threads = 2, .n_positions = 40, .n_sequences = kSequences});
  ASSERT_TRUE(together);
  std::vector<std::vector<int32_t>> texts(kSequences);
  for (int32_t s = 0; s < kSequences; ++s) {
    for (int i = 0; i < 20 + s; ++i) texts[static_cast<size_t>(s)].push_back((i * (s + 3) + s) % 80);
    const std::span<const int32_t> prompt(texts[static_cast<size_t>(s)].data(), static_cast<size_t>(10 + s));
    ASSERT_TRUE(together->append(prompt, Evaluator::Logits::kNone, s));
  }
  std::vector<float> last;
  for (size_t i = 0; i < 10; ++i) {
    std::vector<int32_t> tokens;
    for (size_t s = 0; s < texts.size(); ++s) tokens.push_back(texts[s][10 + s + i]);
    const auto logits = together->step(tokens);
    ASSERT_TRUE(logits) << logits.error().message;
    last.assign(logits->begin(), logits->end());
  }
  for (size_t s = 0; s < texts.size(); ++s) {
    auto alone = Evaluator::load(*model.file, {.n_threads = 1, .n_positions = 40});
    ASSERT_TRUE(alone);
    const auto logits = *alone->append(texts[s], Evaluator::Logits::kLast);
    EXPECT_EQ(std::vector<float>(logits.begin(), logits.end()),
              std::vector<float>(last.begin() + static_cast<ptrdiff_t>(s * 80),
                                 last.begin() + static_cast<ptrdiff_t>(s * 80 + 80)));
    EXPECT_EQ(together->length(static_cast<int32_t>(s)), static_cast<int64_t>(20 + s));
  }
  const std::vector<int32_t> many(kSequences, 1);
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(together->step(many));  // the longest has 40 of 40 now; a page is 32
  for (int i = 0; i < 24; ++i) ASSERT_TRUE(together->step(many));
  EXPECT_FALSE(together->step(many));
}

}  // namespace
}  // namespace ferrox
