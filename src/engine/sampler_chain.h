// Which token comes next? One request's processors and samplers, in the request's order, with their memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/logit_row.h"
#include "engine/samplers/samplers.h"
#include "engine/sampling_params.h"
#include "engine/token_history.h"

namespace ferrox {

/// Deterministic: the choice depends on the seed, the row, the tokens so far and the number of tokens generated.
///
/// Temperature <= 0 is greedy: bias, bans, penalties and DRY are applied, then the highest logit is taken, the lowest
/// id of equal ones; samplers that only cut are skipped. Mirostat replaces everything but penalties, DRY and
/// temperature.
class SamplerChain {
 public:
  struct Choice {
    int32_t id;
    std::optional<LogprobReport> logprobs;  ///< when params ask for them
  };

  /// What a token adds to the text; lives as long as the chain.
  using TokenBytes = std::function<std::string_view(int32_t)>;

  /// `params` must be valid. `end_tokens`: banned until min_tokens are generated.
  SamplerChain(const SamplingParams& params, int32_t n_vocab, std::vector<int32_t> end_tokens, TokenBytes token_bytes);

  /// Tells the chain of one more token of prompt or answer: the last of `tokens`.
  void accept(std::span<const int32_t> tokens);

  /// Chooses from one row, which it changes; some of its logits is finite, none NaN or +infinity. `tokens`: prompt ++
  /// answer so far, of which n_generated are the answer. Errors: bans that leave no token.
  Result<Choice> sample(std::span<float> logits, std::span<const int32_t> tokens, int64_t n_generated);

 private:
  bool apply_processors(std::span<float> logits, int64_t n_generated) const;  ///< whether there were any
  void apply(SamplerKind kind, Candidates& candidates, std::span<const int32_t> tokens, TokenRng& rng) const;
  void apply_order(Candidates& candidates, std::span<const int32_t> tokens, TokenRng& rng) const;
  Choice choose(Candidates& candidates, std::span<const int32_t> tokens, TokenRng& rng);
  int32_t choose_greedily(Candidates& candidates) const;
  void apply_dry_penalty(Candidates& candidates, std::span<const int32_t> tokens) const;

  SamplingParams params_;
  int32_t n_vocab_;
  std::vector<int32_t> end_tokens_;
  TokenBytes token_bytes_;
  PenaltyWindow penalty_window_;
  BreakerTracker breakers_;
  MirostatState mirostat_;
  std::vector<float> model_row_;  ///< the row as the model gave it, kept only for logprobs
};

}  // namespace ferrox
