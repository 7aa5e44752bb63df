// How are chunks and whole answers put together?
#include "server/openai/answer_builder.h"

#include <chrono>

#include "server/openai/usage.h"

namespace ferrox {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// An object's text without its end.
std::string opened(std::string object) {
  object.pop_back();
  return object;
}

}  // namespace

std::string sse_data(const std::string& payload) { return "data: " + payload + "\n\n"; }

AnswerBuilder::AnswerBuilder(PreparedAnswer prepared, const Tokenizer& tokenizer, std::string model_id,
                             const std::string& request_id)
    : prepared_(std::move(prepared)),
      tokenizer_(tokenizer),
      model_id_(std::move(model_id)),
      answer_id_(prepared_.shape->id_prefix() + request_id),
      created_(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
                   .count()),
      chunk_before_(opened(dump_json(envelope(prepared_.shape->chunk_object()))) + ",\"choices\":["),
      chunk_behind_(prepared_.include_usage ? "],\"usage\":null}" : "]}"),
      ledgers_(prepared_.seeds.size(), LogprobLedger(tokenizer)),
      choices_(prepared_.seeds.size()),
      usages_(prepared_.seeds.size()),
      scores_(prepared_.seeds.size()) {}

Json AnswerBuilder::envelope(const char* object) const {
  return {{"id", answer_id_},
          {"object", object},
          {"created", created_},
          {"model", model_id_},
          {"system_fingerprint", "ferrox"}};
}

void AnswerBuilder::collect(const ChoiceEvent& event) {
  FinishedChoice& choice = choices_[event.choice];
  LogprobLedger& ledger = ledgers_[event.choice];
  if (const auto* token = std::get_if<TokenEvent>(&event.event)) {
    choice.text += token->text;
    scores_.add(event.choice, *token);
    if (prepared_.logprobs) append(choice.tokens, ledger.push(*token));
  } else if (const auto* done = std::get_if<DoneEvent>(&event.event)) {
    choice.text += done->text;
    if (prepared_.logprobs) append(choice.tokens, ledger.finish(*done));
    choice.reason = done->reason;
    usages_[event.choice] = done->usage;
  }
}

std::string AnswerBuilder::whole_body() const {
  Json body = envelope(prepared_.shape->whole_object());
  Json choices = Json::array();
  const std::vector<size_t> told =
      scores_.best(static_cast<size_t>(prepared_.n_per_prompt), static_cast<size_t>(prepared_.n_told));
  for (size_t i = 0; i < told.size(); ++i) {
    choices.push_back(prepared_.shape->whole_choice(i, choices_[told[i]]));
  }
  body["choices"] = std::move(choices);
  body["usage"] = usage_json(usages_, prepared_.n_per_prompt, tokenizer_);
  body["seed"] = prepared_.seeds[told.front()];
  if (usages_.size() == 1) body["timings"] = timings_json(usages_.front());
  return dump_json(body);
}

std::string AnswerBuilder::repeated_body(const std::string& body) const {
  Json repeated = Json::parse(body);
  repeated["id"] = answer_id_;
  repeated["created"] = created_;
  repeated.erase("timings");  // nothing was measured
  return dump_json(repeated);
}

/// Most of it is the same for each token of an answer, and made once.
std::string AnswerBuilder::chunk(const Json& choice) const {
  return sse_data(chunk_before_ + dump_json(choice) + chunk_behind_);
}

std::string AnswerBuilder::opening_events() const {
  std::string events;
  for (size_t i = 0; i < choices_.size(); ++i) {
    const Json choice = prepared_.shape->opening_choice(i);
    if (!choice.is_null()) events += chunk(choice);
  }
  return events;
}

std::string AnswerBuilder::events_of(const ChoiceEvent& event) {
  LogprobLedger& ledger = ledgers_[event.choice];
  if (const auto* token = std::get_if<TokenEvent>(&event.event)) {
    const auto released = prepared_.logprobs ? ledger.push(*token) : std::vector<ScoredToken>();
    if (token->text.empty() && released.empty()) return "";
    return chunk(prepared_.shape->piece_choice(event.choice, token->text, released));
  }
  const auto* done = std::get_if<DoneEvent>(&event.event);
  if (done == nullptr) return "";
  usages_[event.choice] = done->usage;
  const auto released = prepared_.logprobs ? ledger.finish(*done) : std::vector<ScoredToken>();
  std::string events;
  if (!done->text.empty() || !released.empty()) {
    events = chunk(prepared_.shape->piece_choice(event.choice, done->text, released));
  }
  Json last = envelope(prepared_.shape->chunk_object());
  last["choices"] = Json::array({prepared_.shape->last_choice(event.choice, done->reason)});
  if (prepared_.include_usage) last["usage"] = nullptr;
  last["seed"] = prepared_.seeds[event.choice];
  last["timings"] = timings_json(done->usage);
  return events + sse_data(dump_json(last));
}

std::string AnswerBuilder::error_event(const ApiError& error) const { return sse_data(error_body(error)); }

std::string AnswerBuilder::closing_events() const {
  std::string events;
  if (prepared_.include_usage) {
    Json body = envelope(prepared_.shape->chunk_object());
    body["choices"] = Json::array();
    body["usage"] = usage_json(usages_, prepared_.n_per_prompt, tokenizer_);
    events = sse_data(dump_json(body));
  }
  return events + sse_data("[DONE]");
}

}  // namespace ferrox
