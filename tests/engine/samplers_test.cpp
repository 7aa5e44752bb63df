// Does each sampler keep what the plain definition keeps?
#include "engine/samplers/samplers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

/// Slow and obvious: id -> probability, in double.
using Distribution = std::map<int32_t, double>;

Distribution softmax_of(const std::vector<float>& logits) {
  Distribution out;
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] == kImpossible) continue;
    sum += out[static_cast<int32_t>(i)] = std::exp(static_cast<double>(logits[i]));
  }
  for (auto& [id, p] : out) p /= sum;
  return out;
}

/// Ids from the most to the least likely, ties by id.
std::vector<int32_t> ranked(const Distribution& distribution) {
  std::vector<int32_t> ids;
  for (const auto& [id, p] : distribution) ids.push_back(id);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](int32_t a, int32_t b) { return distribution.at(a) > distribution.at(b); });
  return ids;
}

std::set<int32_t> kept_ids(Candidates& candidates) {
  std::set<int32_t> ids;
  for (const Candidate& candidate : candidates.list()) ids.insert(candidate.id);
  return ids;
}

std::vector<float> random_logits(std::mt19937& random, size_t n) {
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = random() % 9 == 0 ? kImpossible : normal(random);
  logits[random() % n] = 1.0f;  // never all impossible
  return logits;
}

/// Runs `body(logits, random)` on many random rows.
void with_random_rows(const std::function<void(std::vector<float>, std::mt19937&)>& body) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    body(random_logits(random, 1 + random() % 300), random);
  }
}

TEST(Candidates, SelectionEqualsSorting) {
  with_random_rows([](std::vector<float> logits, std::mt19937& random) {
    for (float& logit : logits) logit = std::round(logit);  // many ties
    std::vector<int32_t> want = ranked(softmax_of(logits));
    const auto k = static_cast<int64_t>(1 + random() % (logits.size() + 5));
    want.resize(std::min(want.size(), static_cast<size_t>(k)));
    Candidates candidates(logits);
    candidates.keep_top(k);
    std::vector<int32_t> got;
    for (const Candidate& candidate : candidates.list()) got.push_back(candidate.id);
    EXPECT_EQ(got, want) << "k " << k;
  });
}

TEST(Candidates, SelectionFromLongRowsEqualsSorting) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<float> logits = random_logits(random, 1 + random() % 20000);
    if (seed % 2 == 0) std::ranges::transform(logits, logits.begin(), [](float logit) { return std::round(logit); });
    std::vector<int32_t> want;
    for (size_t id = 0; id < logits.size(); ++id) {
      if (logits[id] != kImpossible) want.push_back(static_cast<int32_t>(id));
    }
    std::ranges::stable_sort(want, std::greater<>(), [&](int32_t id) { return logits[static_cast<size_t>(id)]; });
    const auto k = static_cast<int64_t>(1 + random() % 90);  // beside up to 80 blocks
    want.resize(std::min(want.size(), static_cast<size_t>(k)));
    Candidates candidates(logits);
    candidates.keep_top(k);
    std::vector<int32_t> got;
    for (const Candidate& candidate : candidates.list()) got.push_back(candidate.id);
    EXPECT_EQ(got, want) << "k " << k << " of " << logits.size();
  }
}

TEST(Candidates, TiesGoToTheLowestId) {
  std::vector<float> logits(1000, 2.0f);
  Candidates candidates(logits);
  candidates.keep_top(3);
  std::vector<int32_t> got;
  for (const Candidate& candidate : candidates.list()) got.push_back(candidate.id);
  EXPECT_THAT(got, ElementsAre(0, 1, 2));
}

TEST(Candidates, EditsReachTheRowAndTheList) {
  std::vector<float> logits = {1, 2, 3};
  Candidates candidates(logits);
  candidates.edit(1, [](float logit) { return logit + 10; });
  EXPECT_EQ(candidates.max_logit(), 12.0f);
  candidates.keep_top(2);
  candidates.edit(1, [](float logit) { return logit - 100; });
  candidates.edit(0, [](float) { return 1e9f; });  // gone already
  candidates.sort();
  EXPECT_EQ(candidates.list().front().id, 2);
}

TEST(TopK, KeepsAtLeastMinKeep) {
  std::vector<float> logits = {1, 2, 3, 4, 5, 6};
  Candidates candidates(logits);
  sample_top_k(candidates, 2, 3);
  EXPECT_EQ(kept_ids(candidates), (std::set<int32_t>{3, 4, 5}));
}

TEST(TopK, ZeroIsOff) {
  std::vector<float> logits = {1, 2, 3};
  Candidates candidates(logits);
  sample_top_k(candidates, 0, 0);
  EXPECT_TRUE(candidates.dense());
}

TEST(TopP, KeepsTheSmallestSetThatReachesP) {
  with_random_rows([](std::vector<float> logits, std::mt19937& random) {
    const auto min_keep = static_cast<int32_t>(random() % 4);
    for (const float p : {0.0f, 0.1f, 0.5f, 0.9f, 0.999f}) {
      const Distribution distribution = softmax_of(logits);
      std::set<int32_t> want;
      double sum = 0;
      for (const int32_t id : ranked(distribution)) {
        if (!want.empty() && sum >= static_cast<double>(p) && static_cast<int32_t>(want.size()) >= min_keep) break;
        want.insert(id);
        sum += distribution.at(id);
      }
      std::vector<float> row = logits;
      Candidates candidates(row);
      sample_top_p(candidates, p, min_keep);
      EXPECT_EQ(kept_ids(candidates), want) << "p " << p;
    }
  });
}

TEST(MinP, KeepsWhatIsLikelyEnoughBesideTheBest) {
  with_random_rows([](std::vector<float> logits, std::mt19937& random) {
    const auto min_keep = static_cast<int32_t>(random() % 4);
    const Distribution distribution = softmax_of(logits);
    const std::vector<int32_t> order = ranked(distribution);
    for (const float p : {0.05f, 0.3f, 0.99f}) {
      std::set<int32_t> want;
      for (const int32_t id : order) {
        const bool likely = distribution.at(id) >= static_cast<double>(p) * distribution.at(order.front()) * (1 - 1e-6);
        if (likely || static_cast<int32_t>(want.size()) < min_keep) want.insert(id);
      }
      std::vector<float> row = logits;
      Candidates candidates(row);
      sample_min_p(candidates, p, min_keep);
      EXPECT_EQ(kept_ids(candidates), want) << "p " << p;
    }
  });
}

TEST(MinP, AboveOneKeepsTheBest) {
  std::vector<float> logits = {1, 7, 3};
  Candidates candidates(logits);
  sample_min_p(candidates, 1.5f, 0);
  EXPECT_EQ(kept_ids(candidates), (std::set<int32_t>{1}));
}

TEST(Typical, KeepsWhatIsNearestToTheEntropy) {
  with_random_rows([](std::vector<float> logits, std::mt19937&) {
    const Distribution distribution = softmax_of(logits);
    double entropy = 0;
    for (const auto& [id, p] : distribution) entropy -= p * std::log(p);
    std::vector<int32_t> order = ranked(distribution);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return std::abs(-std::log(distribution.at(a)) - entropy) < std::abs(-std::log(distribution.at(b)) - entropy);
    });
    std::set<int32_t> want;
    double sum = 0;
    for (const int32_t id : order) {
      want.insert(id);
      if ((sum += distribution.at(id)) > 0.6) break;
    }
    Candidates candidates(logits);
    sample_typical(candidates, 0.6f, 0);
    EXPECT_EQ(kept_ids(candidates), want);
  });
}

TEST(TopNSigma, KeepsWhatIsNearTheBest) {
  std::vector<float> logits = {0, 0, 0, 0, 10, 9, kImpossible};  // mean 19/6, sigma 4.5
  Candidates candidates(logits);
  sample_top_n_sigma(candidates, 1.0f);
  EXPECT_EQ(kept_ids(candidates), (std::set<int32_t>{4, 5}));
  std::vector<float> again = {0, 0, 0, 0, 10, 9, kImpossible};
  Candidates all(again);
  sample_top_n_sigma(all, 3.0f);
  EXPECT_EQ(all.list().size(), 6u);
}

TEST(Xtc, RemovesAllLikelyOnesButTheLast) {
  std::vector<float> logits = {std::log(0.4f), std::log(0.3f), std::log(0.2f), std::log(0.1f)};
  TokenRng rng(1, 0);
  Candidates candidates(logits);
  sample_xtc(candidates, 1.0f, 0.15f, 0, rng);
  EXPECT_EQ(kept_ids(candidates), (std::set<int32_t>{2, 3}));
}

TEST(Xtc, LeavesMinKeepAndSingleLikelyOnesAlone) {
  std::vector<float> logits = {std::log(0.4f), std::log(0.3f), std::log(0.2f), std::log(0.1f)};
  TokenRng rng(1, 0);
  Candidates kept(logits);
  sample_xtc(kept, 1.0f, 0.15f, 3, rng);
  EXPECT_EQ(kept.list().size(), 4u);
  Candidates single(logits);
  sample_xtc(single, 1.0f, 0.35f, 0, rng);
  EXPECT_EQ(single.list().size(), 4u);
  Candidates off(logits);
  sample_xtc(off, 1.0f, 0.6f, 0, rng);
  EXPECT_TRUE(off.list().size() == 4u);
}

TEST(Xtc, HappensAsOftenAsAsked) {
  int n_cut = 0;
  for (int64_t token = 0; token < 4000; ++token) {
    std::vector<float> logits = {0.0f, 0.0f};
    TokenRng rng(9, token);
    Candidates candidates(logits);
    sample_xtc(candidates, 0.25f, 0.1f, 0, rng);
    n_cut += candidates.list().size() == 1;
  }
  EXPECT_NEAR(n_cut, 1000, 110);  // four standard deviations of a binomial of 4000 and 1/4
}

TEST(Temperature, DividesLogits) {
  std::vector<float> logits = {1, 2};
  Candidates candidates(logits);
  apply_temperature(candidates, 0.5f);
  EXPECT_EQ(candidates.list()[1].logit - candidates.list()[0].logit, 2.0f);
  apply_temperature(candidates, 1e-44f);  // the others are out of float's reach, the best is not
  candidates.softmax();
  EXPECT_EQ(candidates.list()[1].p, 1.0f);
  EXPECT_EQ(candidates.list()[0].p, 0.0f);
}

TEST(DynamicTemperature, FollowsTheEntropy) {
  std::vector<float> flat = {1, 1.001f, 1, 1};
  Candidates uncertain(flat);
  apply_dynamic_temperature(uncertain, 1.0f, 0.5f, 1.0f);
  EXPECT_THAT(uncertain.list()[0].logit, FloatNear(-0.001f / 1.5f, 1e-6f));  // full entropy: temperature + range
  std::vector<float> steep = {100, 1};
  Candidates certain(steep);
  apply_dynamic_temperature(certain, 1.0f, 0.5f, 1.0f);
  EXPECT_THAT(certain.list()[1].logit, FloatNear(-99.0f / 0.5f, 1e-3f));  // none: temperature - range
  std::vector<float> row = {100, 1};
  Candidates negative(row);
  apply_dynamic_temperature(negative, 0.5f, 2.0f, 1.0f);  // the lowest temperature is 0, not below
  negative.softmax();
  EXPECT_EQ(negative.list()[0].p, 1.0f);
}

TEST(Penalties, DividePositiveAndMultiplyNegativeLogits) {
  std::vector<float> logits = {2, -2, 5};
  Candidates candidates(logits);
  apply_penalties(candidates, {{0, 3}, {1, 1}}, {.repeat = 2.0f, .frequency = 0.1f, .presence = 0.5f});
  EXPECT_FLOAT_EQ(logits[0], 2.0f / 2.0f - 3 * 0.1f - 0.5f);
  EXPECT_FLOAT_EQ(logits[1], -2.0f * 2.0f - 0.1f - 0.5f);
  EXPECT_EQ(logits[2], 5.0f);
}

/// DRY by its definition: for every earlier place, how much of the end is repeated there.
std::map<int32_t, int64_t> naive_repeats(const std::vector<int32_t>& context, int64_t max_repeat) {
  std::map<int32_t, int64_t> longest;
  const auto n = static_cast<int64_t>(context.size());
  for (int64_t end = 1; end < n; ++end) {  // a run that ends before `end`, followed by context[end]
    int64_t length = 0;
    while (length < max_repeat && length < end &&
           context[static_cast<size_t>(end - 1 - length)] == context[static_cast<size_t>(n - 1 - length)]) {
      ++length;
    }
    int64_t& best = longest[context[static_cast<size_t>(end)]];
    best = std::max(best, length);
  }
  return longest;
}

TEST(Dry, PenalisesByTheLengthOfTheRepetition) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    std::vector<int32_t> context(random() % 60);
    for (int32_t& token : context) token = static_cast<int32_t>(random() % 3);
    const auto max_repeat = static_cast<int64_t>(random() % 20);
    const DryParams params{.multiplier = 0.8f, .base = 1.75f, .allowed_length = static_cast<int32_t>(random() % 4)};
    std::vector<float> logits = {1, 2, 3};
    Candidates candidates(logits);
    apply_dry(candidates, context, max_repeat, params, [](int32_t id) { return id == 2; });
    std::vector<float> want = {1, 2, 3};
    if (static_cast<int64_t>(context.size()) > params.allowed_length && max_repeat >= params.allowed_length) {
      for (const auto& [id, length] : naive_repeats(context, max_repeat)) {
        if (length < params.allowed_length || id == 2) continue;
        want[static_cast<size_t>(id)] -= 0.8f * std::pow(1.75f, static_cast<float>(length - params.allowed_length));
      }
    }
    for (size_t id = 0; id < 3; ++id) ASSERT_FLOAT_EQ(logits[id], want[id]) << "seed " << seed;
  }
}

TEST(Dry, HugeRepetitionsStayFinite) {
  const std::vector<int32_t> context(5000, 1);
  std::vector<float> logits = {0, 0};
  Candidates candidates(logits);
  apply_dry(candidates, context, 5000, {.multiplier = 10.0f, .base = 4.0f, .allowed_length = 2},
            [](int32_t) { return false; });
  EXPECT_TRUE(std::isfinite(logits[1]));
  EXPECT_LT(logits[1], -1e30f);
}

TEST(Draw, FollowsTheProbabilities) {
  std::array<int, 3> counts{};
  for (int64_t token = 0; token < 20000; ++token) {
    std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
    Candidates candidates(logits);
    TokenRng rng(42, token);
    ++counts[static_cast<size_t>(draw(candidates, rng).id)];
  }
  EXPECT_NEAR(counts[0], 10000, 290);  // four standard deviations
  EXPECT_NEAR(counts[1], 6000, 260);
  EXPECT_NEAR(counts[2], 4000, 230);
}

TEST(TokenRng, DependsOnSeedTokenAndDrawOnly) {
  TokenRng a(5, 17);
  TokenRng b(5, 17);
  const double first = a.uniform();
  EXPECT_EQ(first, b.uniform());
  EXPECT_NE(first, a.uniform());
  EXPECT_NE(first, TokenRng(6, 17).uniform());
  EXPECT_NE(first, TokenRng(5, 18).uniform());
  std::set<double> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (int64_t token = 0; token < 50; ++token) {
      TokenRng rng(seed, token);
      for (int i = 0; i < 4; ++i) seen.insert(rng.uniform());
    }
  }
  EXPECT_EQ(seen.size(), 50u * 50u * 4u) << "neighbouring seeds or tokens share numbers";
  EXPECT_GE(*seen.begin(), 0.0);
  EXPECT_LT(*seen.rbegin(), 1.0);
}

TEST(Mirostat2, CutsWhatSurprisesMoreThanMu) {
  std::vector<float> logits = {std::log(0.5f), std::log(0.25f), std::log(0.125f), std::log(0.125f)};
  Candidates candidates(logits);
  MirostatState state{.tau = 1.0f, .eta = 0.1f, .mu = 2.0f};  // 2 bits: probability 1/4 and more
  TokenRng rng(3, 0);
  const Candidate drawn = sample_mirostat_2(candidates, state, rng);
  EXPECT_EQ(candidates.list().size(), 2u);
  const float surprise = -std::log2(drawn.id == 0 ? 2.0f / 3.0f : 1.0f / 3.0f);
  EXPECT_NEAR(state.mu, 2.0f - 0.1f * (surprise - 1.0f), 1e-5f);
}

TEST(Mirostat, HoldsTheSurpriseNearTau) {
  for (const int version : {1, 2}) {
    MirostatState state{.tau = 3.0f, .eta = 0.1f, .mu = 6.0f};
    double surprise = 0;
    constexpr int kTokens = 4000;
    std::mt19937 random(1);
    for (int64_t token = 0; token < kTokens; ++token) {
      std::vector<float> logits(500);
      for (size_t i = 0; i < logits.size(); ++i) logits[i] = -1.1f * std::log(static_cast<float>(i + 1));  // Zipf
      const float before = state.mu;
      Candidates candidates(logits);
      TokenRng rng(8, token);
      version == 1 ? sample_mirostat_1(candidates, 500, state, rng) : sample_mirostat_2(candidates, state, rng);
      surprise += static_cast<double>((before - state.mu) / state.eta + state.tau);
    }
    EXPECT_NEAR(surprise / kTokens, 3.0, 0.1) << "version " << version;
  }
}

TEST(Mirostat1, OneTokenOrAFlatRowIsNoTrouble) {
  MirostatState state{.tau = 5.0f, .eta = 0.1f, .mu = 10.0f};
  std::vector<float> one = {kImpossible, 1.0f};
  Candidates single(one);
  TokenRng rng(1, 0);
  EXPECT_EQ(sample_mirostat_1(single, 2, state, rng).id, 1);
  std::vector<float> flat(100, 0.5f);
  Candidates many(flat);
  sample_mirostat_1(many, 100, state, rng);
  EXPECT_TRUE(std::isfinite(state.mu));
}

}  // namespace
}  // namespace ferrox
