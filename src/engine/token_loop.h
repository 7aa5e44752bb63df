// What happens to one row of logits? It becomes a token, text, and perhaps the end of the answer, in a fixed order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/finished.h"
#include "engine/request.h"
#include "engine/sampler_chain.h"
#include "engine/stop_matcher.h"
#include "text/utf8_assembler.h"

namespace ferrox {

/// What the loop asks of a vocabulary. Safe to call from any thread.
struct LoopVocabulary {
  int32_t n_vocab;                                       ///< of the model's logits
  std::vector<int32_t> end_tokens;                       ///< end-of-generation set
  std::function<std::string_view(int32_t)> token_bytes;  ///< what a token adds to the text; empty for control tokens
  std::function<std::vector<int32_t>(std::string_view)> encode;  ///< special tokens parsed, no BOS
};

/// Refuses (kInvalidArgument) ids outside the vocabulary.
Result<void> check_prompt_ids(std::span<const int32_t> prompt, int32_t n_vocab);

/// One request's answer: processors and samplers, end tokens, stops by id, UTF-8, stops in the text. It owns the
/// tokens: prompt ++ answer.
class TokenLoop {
 public:
  struct Outcome {
    std::optional<TokenEvent> token;  ///< absent when an end token or a stop token was sampled
    std::optional<Finished> finished;
  };

  /// Errors: numbers or token ids that validate_sampling refuses, a prompt or stop token outside the vocabulary, a stop
  /// string that is empty or not UTF-8. `vocabulary` must outlive the loop.
  static Result<TokenLoop> create(GenerationRequest request, int64_t max_tokens, const LoopVocabulary& vocabulary);

  /// Chooses the next token by the logits of the last one, [n_vocab], which it changes. Loops may do so side by side.
  void choose(std::span<float> logits);

  /// Goes on with what choose() chose. Errors end the request: logits that aren't finite, bans that leave no token.
  Result<Outcome> take_choice();

  Result<Outcome> take_logits(std::span<float> logits) { return choose(logits), take_choice(); }

  /// The answer ends because nobody waits for it any more.
  Finished cancel();

  std::span<const int32_t> tokens() const { return tokens_; }
  int64_t n_prompt() const { return n_prompt_; }
  int64_t n_generated() const { return static_cast<int64_t>(tokens_.size()) - n_prompt_; }

 private:
  using IdStop = std::pair<int32_t, std::string>;

  TokenLoop(GenerationRequest request, int64_t max_tokens, const LoopVocabulary& vocabulary);
  Result<SamplerChain::Choice> chosen_by(std::span<float> logits);
  void append(int32_t id);
  std::optional<Finished> ends_before_append(int32_t id);
  Outcome append_and_emit(const SamplerChain::Choice& choice);
  Finished finish(FinishReason reason);
  Finished finish_at_stop(std::string stop);

  const LoopVocabulary* vocabulary_;
  int64_t max_tokens_;
  int64_t n_prompt_;
  std::vector<int32_t> tokens_;
  std::vector<int32_t> stop_tokens_;
  std::vector<IdStop> id_stops_;  ///< stop strings that are one token
  bool ignore_eos_;
  bool include_stop_;
  SamplerChain chain_;
  std::optional<Result<SamplerChain::Choice>> choice_;  ///< from choose() to take_choice()
  Utf8Assembler assembler_;
  StopMatcher matcher_;
};

}  // namespace ferrox
