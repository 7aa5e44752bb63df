#include "engine/token_loop.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/sampling_check.h"
#include "text/utf8.h"

namespace ferrox {
namespace {

bool contains(std::span<const int32_t> ids, int32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

Result<void> check_ids(const char* name, std::span<const int32_t> ids, int32_t n_vocab) {
  for (const int32_t id : ids) {
    if (id >= 0 && id < n_vocab) continue;
    return make_error(ErrorCode::kInvalidArgument, "{}: expected token ids of 0 to {}, found {}", name, n_vocab - 1,
                      id);
  }
  return {};
}

Result<void> check_stops(std::span<const std::string> stops) {
  for (size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].empty()) return make_error(ErrorCode::kInvalidArgument, "stop {}: expected text, found none", i);
    if (valid_utf8_prefix(stops[i]) == stops[i].size()) continue;
    return make_error(ErrorCode::kInvalidArgument, "stop {}: expected UTF-8, found other bytes", i);
  }
  return {};
}

}  // namespace

Result<void> check_prompt_ids(std::span<const int32_t> prompt, int32_t n_vocab) {
  return check_ids("prompt", prompt, n_vocab);
}

Result<TokenLoop> TokenLoop::create(GenerationRequest request, int64_t max_tokens, const LoopVocabulary& vocabulary) {
  TRY(check_ids("prompt", request.prompt, vocabulary.n_vocab));
  TRY(check_ids("stop_tokens", request.stop_tokens, vocabulary.n_vocab));
  TRY(check_stops(request.stop));
  TRY(validate_sampling(request.sampling, vocabulary.n_vocab));
  return TokenLoop(std::move(request), max_tokens, vocabulary);
}

TokenLoop::TokenLoop(GenerationRequest request, int64_t max_tokens, const LoopVocabulary& vocabulary)
    : vocabulary_(&vocabulary),
      max_tokens_(max_tokens),
      n_prompt_(static_cast<int64_t>(request.prompt.size())),
      stop_tokens_(std::move(request.stop_tokens)),
      ignore_eos_(request.ignore_eos),
      include_stop_(request.include_stop),
      chain_(request.sampling, vocabulary.n_vocab, vocabulary.end_tokens, vocabulary.token_bytes),
      matcher_(request.stop) {
  for (const std::string& stop : request.stop) {
    const std::vector<int32_t> ids = vocabulary.encode(stop);
    if (ids.size() == 1) id_stops_.emplace_back(ids.front(), stop);
  }
  for (const int32_t id : request.prompt) append(id);
}

void TokenLoop::append(int32_t id) {
  tokens_.push_back(id);
  chain_.accept(tokens_);
}

Result<SamplerChain::Choice> TokenLoop::chosen_by(std::span<float> logits) {
  if (!has_usable_logits(logits)) return make_error(ErrorCode::kCorrupt, "model gave no finite logits");
  return chain_.sample(logits, tokens_, n_generated());
}

void TokenLoop::choose(std::span<float> logits) {
  if (n_generated() < max_tokens_) choice_ = chosen_by(logits);
}

Result<TokenLoop::Outcome> TokenLoop::take_choice() {
  if (n_generated() >= max_tokens_) return Outcome{{}, finish(FinishReason::kLength)};
  CHECK(choice_, "a choice was made");
  TRY_ASSIGN(const SamplerChain::Choice choice, *std::exchange(choice_, std::nullopt));
  if (auto finished = ends_before_append(choice.id)) return Outcome{{}, std::move(finished)};
  return append_and_emit(choice);
}

std::optional<Finished> TokenLoop::ends_before_append(int32_t id) {
  const bool ends_generation = !ignore_eos_ && contains(vocabulary_->end_tokens, id);
  if (ends_generation || contains(stop_tokens_, id)) {
    Finished finished = finish(FinishReason::kStop);
    finished.stop_token_ = id;
    return finished;
  }
  for (const auto& [stop_id, stop] : id_stops_) {
    if (stop_id == id) return finish_at_stop(stop);
  }
  return std::nullopt;
}

TokenLoop::Outcome TokenLoop::append_and_emit(const SamplerChain::Choice& choice) {
  const std::string_view bytes = vocabulary_->token_bytes(choice.id);
  append(choice.id);
  Outcome outcome{TokenEvent{choice.id, matcher_.push(assembler_.push(bytes)), {}, {}}, {}};
  if (choice.logprobs) {
    outcome.token->logprob = choice.logprobs->chosen;
    outcome.token->top_logprobs = choice.logprobs->top;
  }
  if (matcher_.matched()) {
    outcome.finished = finish_at_stop(*matcher_.matched());
  } else if (n_generated() >= max_tokens_) {
    outcome.finished = finish(FinishReason::kLength);
  }
  return outcome;
}

Finished TokenLoop::cancel() { return finish(FinishReason::kCancelled); }

Finished TokenLoop::finish(FinishReason reason) {
  std::string text = matcher_.push(assembler_.flush());
  if (matcher_.matched() && reason != FinishReason::kCancelled) {
    Finished finished = finish_at_stop(*matcher_.matched());
    finished.text_.insert(0, text);
    return finished;
  }
  text += matcher_.flush();
  return Finished(reason, std::move(text));
}

// Text before the stop has left already, or is held back here: a stop found by its id may follow a held suffix.
Finished TokenLoop::finish_at_stop(std::string stop) {
  std::string text;
  if (!matcher_.matched()) {
    text = matcher_.push(assembler_.flush());
    text += matcher_.flush();
  }
  if (include_stop_) text += stop;
  Finished finished(FinishReason::kStop, std::move(text));
  finished.matched_stop_ = std::move(stop);
  return finished;
}

}  // namespace ferrox
