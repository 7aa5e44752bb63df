#include "cli/bench_runner.h"

#include <chrono>
#include <ctime>

#include <fmt/chrono.h>

#include "engine/sampler_chain.h"

namespace ferrox {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Result<BenchRow> BenchRunner::run(const BenchTest& test, const BenchRepetitions& repetitions) {
  BenchRow row{test, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), {}, {}, {}};
  std::vector<MachineLimits> limits;
  Profile profile;
  truncate(test, 0);
  TRY(prompt(test, test.n_depth));
  for (int32_t s = 0; s < test.n_sequences; ++s) evaluator_.mark(s);
  if (repetitions.warms_up) {
    TRY(prompt(test, test.n_prompt));
    TRY(generate(test, std::min<int64_t>(test.n_gen, 1)));
  }
  for (int32_t i = 0; i < repetitions.n; ++i) {
    truncate(test, test.n_depth);
    profile_ = repetitions.profiles ? &profile : nullptr;
    evaluator_.set_profile(profile_);
    const auto started = Clock::now();
    TRY(prompt(test, test.n_prompt));
    TRY(generate(test, test.n_gen));
    row.samples_ns.push_back(std::chrono::nanoseconds(Clock::now() - started).count());
    evaluator_.set_profile(nullptr);
    limits.push_back(probe_.measure());
    if (peer_) {
      TRY_ASSIGN(const double peer_ts, run_peer(*peer_, test));
      row.peer_ts.push_back(peer_ts);
    }
  }
  row.limits = median_limits(limits);
  if (repetitions.profiles) row.profile = profile.root();
  return row;
}

std::vector<int32_t> BenchRunner::random_tokens(int64_t n) {
  const auto n_vocab = static_cast<uint32_t>(evaluator_.shape().n_vocab);
  std::vector<int32_t> tokens(static_cast<size_t>(n));
  for (auto& token : tokens) token = static_cast<int32_t>(random_() % n_vocab);
  return tokens;
}

void BenchRunner::truncate(const BenchTest& test, int64_t n) {
  for (int32_t s = 0; s < test.n_sequences; ++s) evaluator_.truncate(n, s);
}

Result<void> BenchRunner::prompt(const BenchTest& test, int64_t n_tokens) {
  for (int32_t s = 0; s < test.n_sequences && n_tokens > 0; ++s) {
    TRY(evaluator_.append(random_tokens(n_tokens), Evaluator::Logits::kLast, s));
  }
  return {};
}

Result<void> BenchRunner::generate(const BenchTest& test, int64_t n_tokens) {
  for (int64_t i = 0; i < n_tokens; ++i) {
    TRY_ASSIGN(const auto logits, evaluator_.step(random_tokens(test.n_sequences)));
    if (profile_ != nullptr) TRY(sample(logits));
  }
  return {};
}

/// With a request's default settings, as the engine would.
Result<void> BenchRunner::sample(std::span<const float> logits) {
  const int32_t n_vocab = evaluator_.shape().n_vocab;
  std::vector<float> rows(logits.begin(), logits.end());
  const int32_t history[] = {0};
  SamplerChain chain(SamplingParams{}, n_vocab, {}, [](int32_t) { return std::string_view(); });
  chain.accept(history);
  const ProfileScope scope(profile_, "sampling");
  const auto width = static_cast<size_t>(n_vocab);
  for (size_t first = 0; first < rows.size(); first += width) {
    TRY(chain.sample(std::span(rows).subspan(first, width), history, 0));
  }
  return {};
}

}  // namespace ferrox
