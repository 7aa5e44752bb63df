// Does the chain apply what a request asks for, in its order, and the same way every time?
#include "engine/sampler_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "engine/samplers/candidates.h"
#include "engine/sampling_check.h"
#include "support/fake_vocabulary.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using testing::fake_token_bytes;

constexpr int32_t kVocab = 10;
constexpr int32_t kEnd = 9;

SamplerChain make_chain(const SamplingParams& params) {
  EXPECT_TRUE(validate_sampling(params, kVocab));
  return SamplerChain(params, kVocab, {kEnd}, fake_token_bytes);
}

std::vector<float> row() { return {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 7.0f, 6.5f}; }

SamplerChain::Choice choose(SamplerChain& chain, std::vector<float> logits, std::vector<int32_t> tokens = {0},
                            int64_t n = 0) {
  return *chain.sample(logits, tokens, n);
}

SamplingParams greedy() {
  SamplingParams params;
  params.temperature = 0;
  return params;
}

TEST(SamplerChain, GreedyTakesTheLowestIdOfEquals) {
  SamplerChain chain = make_chain(greedy());
  EXPECT_EQ(choose(chain, row()).id, 7);
}

TEST(SamplerChain, GreedySeesBiasBansAndAllowedTokens) {
  SamplingParams params = greedy();
  params.logit_bias = {{7, kImpossible}, {2, 4.0f}};
  SamplerChain biased = make_chain(params);
  EXPECT_EQ(choose(biased, row()).id, 8);
  params.allowed_tokens = {5, 2, 2, 1};
  SamplerChain allowed = make_chain(params);
  EXPECT_EQ(choose(allowed, row()).id, 2);
}

TEST(SamplerChain, EndTokensAreBannedBeforeMinTokens) {
  SamplingParams params = greedy();
  params.min_tokens = 2;
  params.logit_bias = {{kEnd, 100.0f}};
  SamplerChain chain = make_chain(params);
  EXPECT_EQ(choose(chain, row(), {0}, 1).id, 7);
  EXPECT_EQ(choose(chain, row(), {0}, 2).id, kEnd);
}

TEST(SamplerChain, PenaltiesSeeTheTailOfPromptAndAnswer) {
  SamplingParams params = greedy();
  params.repeat_penalty = 10.0f;
  params.repeat_last_n = 2;
  SamplerChain chain = make_chain(params);
  std::vector<int32_t> tokens;
  for (const int32_t id : {7, 8, 6}) {
    tokens.push_back(id);
    chain.accept(tokens);
  }
  EXPECT_EQ(choose(chain, row(), tokens).id, 7) << "7 has left the window";
  tokens.push_back(7);
  chain.accept(tokens);
  EXPECT_EQ(choose(chain, row(), tokens).id, 8);
}

TEST(SamplerChain, DryRespectsBreakersInTheText) {
  SamplingParams params = greedy();
  params.dry_multiplier = 100.0f;
  params.dry_allowed_length = 2;
  params.dry_sequence_breakers = {};
  const std::vector<int32_t> tokens = {5, 6, 7, 5, 6};
  const auto pick = [&] {
    SamplerChain chain = make_chain(params);
    for (size_t n = 1; n <= tokens.size(); ++n) chain.accept(std::span(tokens).first(n));
    return choose(chain, row(), tokens).id;
  };
  EXPECT_EQ(pick(), 8) << "7 would go on with 5 6 7";
  params.dry_sequence_breakers = {"fg"};  // the text of 5 6, over a token border
  EXPECT_EQ(pick(), 7);
  params.dry_sequence_breakers = {"h"};  // 7 breaks a sequence itself
  EXPECT_EQ(pick(), 7);
}

TEST(SamplerChain, TheOrderIsTheRequests) {
  SamplingParams params;
  params.seed = 3;
  params.top_k = 0;
  params.min_p = 0;
  params.temperature = 0.01f;
  params.top_p = 0.3f;
  std::set<int32_t> cold_first;
  std::set<int32_t> cold_last;
  const std::vector<float> logits = {2.0f, 1.99f, 1.98f, 1.97f, 1.96f, 1.95f, 1.94f, 1.93f, 1.92f, 1.91f};
  for (uint64_t seed = 0; seed < 300; ++seed) {
    params.seed = seed;
    params.order = {SamplerKind::kTemperature, SamplerKind::kTopP};
    SamplerChain a = make_chain(params);
    cold_first.insert(choose(a, logits).id);
    params.order = {SamplerKind::kTopP};
    SamplerChain b = make_chain(params);
    cold_last.insert(choose(b, logits).id);
  }
  EXPECT_THAT(cold_first, ElementsAre(0));
  EXPECT_THAT(cold_last, ElementsAre(0, 1, 2));
}

TEST(SamplerChain, TheSameSeedChoosesTheSame) {
  std::mt19937 random(4);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SamplingParams params;
    params.seed = seed;
    params.mirostat = static_cast<int32_t>(seed % 3);
    params.xtc_probability = 0.5f;
    params.typical_p = 0.9f;
    params.top_n_sigma = 3.0f;
    params.dynatemp_range = 0.2f;
    std::vector<float> logits(kVocab);
    for (float& logit : logits) logit = static_cast<float>(random() % 1000) / 100.0f;
    SamplerChain a = make_chain(params);
    SamplerChain b = make_chain(params);
    for (int64_t n = 0; n < 20; ++n) EXPECT_EQ(choose(a, logits, {0}, n).id, choose(b, logits, {0}, n).id);
  }
}

TEST(SamplerChain, LogprobsAreTheModelsUnlessAskedOtherwise) {
  SamplingParams params = greedy();
  params.n_logprobs = 2;
  params.logit_bias = {{0, 100.0f}};
  SamplerChain chain = make_chain(params);
  SamplerChain::Choice choice = choose(chain, row());
  double sum = 0;
  for (const float logit : row()) sum += std::exp(static_cast<double>(logit));
  EXPECT_EQ(choice.id, 0);
  EXPECT_NEAR(choice.logprobs->chosen.logprob, 0.0 - std::log(sum), 1e-5);
  ASSERT_EQ(choice.logprobs->top.size(), 2u);
  EXPECT_EQ(choice.logprobs->top[0].id, 7);
  EXPECT_EQ(choice.logprobs->top[1].id, 8);
  EXPECT_NEAR(choice.logprobs->top[0].logprob, 7.0 - std::log(sum), 1e-5);
  params.post_sampling_logprobs = true;
  SamplerChain after = make_chain(params);
  choice = choose(after, row());
  EXPECT_NEAR(choice.logprobs->chosen.logprob, 0.0, 1e-5);
  EXPECT_EQ(choice.logprobs->top[0].id, 0);
}

std::vector<SamplerKind> random_order(std::mt19937& random) {
  std::vector<SamplerKind> order(random() % 8);
  for (SamplerKind& kind : order) kind = default_sampler_order()[random() % default_sampler_order().size()];
  return order;
}

template <class T>
T one_of(std::mt19937& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

/// Numbers at the edges of what a request may say.
SamplingParams extreme_params(std::mt19937& random) {
  SamplingParams params;
  params.temperature = one_of(random, {0.0f, 1e-40f, 1.0f, 1e6f});
  params.dynatemp_range = one_of(random, {0.0f, 1e6f});
  params.top_k = one_of(random, {0, 1, 40});
  params.top_p = one_of(random, {0.0f, 0.9f, 1.0f});
  params.min_p = one_of(random, {0.0f, 0.5f, 2.0f});
  params.typical_p = one_of(random, {0.0f, 0.5f, 1.0f});
  params.top_n_sigma = one_of(random, {-1.0f, 1e-6f, 1.0f});
  params.xtc_probability = one_of(random, {0.0f, 1.0f});
  params.repeat_penalty = one_of(random, {1e-6f, 1.0f, 1e6f});
  params.presence_penalty = one_of(random, {-1e6f, 0.0f, 1e6f});
  params.frequency_penalty = one_of(random, {-1e6f, 0.0f, 1e6f});
  params.dry_multiplier = one_of(random, {0.0f, 0.8f, 100.0f, 1e6f});
  params.dry_base = one_of(random, {1.75f, 100.0f, 1e6f});
  params.dry_allowed_length = one_of(random, {0, 2});
  params.dry_sequence_breakers = {};
  params.mirostat = one_of(random, {0, 0, 1, 2});
  params.order = random_order(random);
  return params;
}

TEST(SamplerChain, ABanHoldsUnderEveryPenalty) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    SamplingParams params = extreme_params(random);
    params.seed = seed;
    const auto allowed = static_cast<int32_t>(random() % kVocab);
    if (random() % 2 == 0) params.allowed_tokens = {allowed};
    for (int32_t id = 0; id < kVocab && params.allowed_tokens.empty(); ++id) {
      if (id != allowed) params.logit_bias.emplace_back(id, kImpossible);
    }
    SamplerChain chain = make_chain(params);
    std::vector<int32_t> tokens;
    for (int n = 0; n < 60; ++n) {
      tokens.push_back(allowed);
      chain.accept(tokens);
    }
    std::vector<float> logits = row();
    ASSERT_EQ(chain.sample(logits, tokens, 0)->id, allowed) << "seed " << seed;
  }
}

TEST(SamplerChain, NumbersOfARequestSizeNothing) {
  SamplingParams params;
  constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();
  params.top_k = kHuge;
  params.min_keep = kHuge;
  params.repeat_last_n = kHuge;
  params.dry_multiplier = 1.0f;
  params.dry_penalty_last_n = kHuge;
  params.dry_allowed_length = kHuge;
  params.n_logprobs = kHuge;
  params.min_tokens = std::numeric_limits<int64_t>::max();
  SamplerChain chain = make_chain(params);
  const std::vector<int32_t> tokens = {1, 2};
  chain.accept(tokens);
  EXPECT_EQ(choose(chain, row(), tokens).logprobs->top.size(), static_cast<size_t>(kVocab));
}

}  // namespace
}  // namespace ferrox
