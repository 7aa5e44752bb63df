// Which fields do a message, its usage and the events of its stream have?
#include "server/anthropic/message_writer.h"

#include <fmt/format.h>

#include <utility>

#include "server/anthropic/message_error.h"

namespace ferrox {
namespace {

std::string named_event(const char* name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, dump_json(data));
}

std::string ping_event() { return named_event("ping", {{"type", "ping"}}); }

std::string text_delta(const std::string& text) {
  return named_event(
      "content_block_delta",
      {{"type", "content_block_delta"}, {"index", 0}, {"delta", {{"type", "text_delta"}, {"text", text}}}});
}

/// The prompt is the sum of the three. Prefixes are cached without being asked, so that nothing is created on demand.
Json message_usage(const Usage& usage) {
  const int64_t n_cached = usage.cached_tokens.value_or(0);
  return {{"input_tokens", usage.prompt_tokens - n_cached},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", n_cached},
          {"output_tokens", usage.completion_tokens}};
}

const char* stop_reason(const DoneEvent& done) {
  switch (done.reason) {
    case FinishReason::kStop:
      return done.matched_stop ? "stop_sequence" : "end_turn";
    case FinishReason::kLength:
      return "max_tokens";
    case FinishReason::kCancelled:
      break;
  }
  return "cancelled";
}

Json stop_sequence(const DoneEvent& done) { return done.matched_stop ? Json(*done.matched_stop) : Json(); }

Json message_object(const std::string& model_id, const std::string& request_id) {
  return {{"id", "msg_" + request_id}, {"type", "message"},      {"role", "assistant"},     {"model", model_id},
          {"content", Json::array()},  {"stop_reason", nullptr}, {"stop_sequence", nullptr}};
}

}  // namespace

MessageWriter::MessageWriter(std::string model_id, std::string request_id)
    : model_id_(std::move(model_id)), request_id_(std::move(request_id)) {}

void MessageWriter::collect(const ChoiceEvent& event) {
  if (const auto* token = std::get_if<TokenEvent>(&event.event)) {
    text_ += token->text;
  } else if (const auto* done = std::get_if<DoneEvent>(&event.event)) {
    text_ += done->text;
    done_ = *done;
  }
}

std::string MessageWriter::whole_body() const {
  CHECK(done_.has_value(), "a whole answer has ended");
  Json body = message_object(model_id_, request_id_);
  body["content"].push_back({{"type", "text"}, {"text", text_}});
  body["stop_reason"] = stop_reason(*done_);
  body["stop_sequence"] = stop_sequence(*done_);
  body["usage"] = message_usage(done_->usage);
  return dump_json(body);
}

std::string MessageWriter::repeated_body(const std::string& body) const {
  Json repeated = Json::parse(body);
  repeated["id"] = "msg_" + request_id_;
  return dump_json(repeated);
}

std::string MessageWriter::events_of(const ChoiceEvent& event) {
  if (const auto* progress = std::get_if<PromptProgressEvent>(&event.event)) {
    usage_.prompt_tokens = progress->n_prompt;
    usage_.cached_tokens = progress->n_cached;
    return started_ ? ping_event() : start();
  }
  if (const auto* token = std::get_if<TokenEvent>(&event.event)) {
    return token->text.empty() ? "" : text_delta(token->text);
  }
  const auto* done = std::get_if<DoneEvent>(&event.event);
  if (done == nullptr) return "";
  std::string events;
  if (!started_) {  // it was cancelled while it waited
    usage_ = done->usage;
    events = start();
  }
  if (!done->text.empty()) events += text_delta(done->text);
  return events + end(*done);
}

std::string MessageWriter::start() {
  started_ = true;
  Json message = message_object(model_id_, request_id_);
  message["usage"] = message_usage(usage_);
  const Json block = {{"type", "text"}, {"text", ""}};
  return named_event("message_start", {{"type", "message_start"}, {"message", std::move(message)}}) +
         named_event("content_block_start", {{"type", "content_block_start"}, {"index", 0}, {"content_block", block}}) +
         ping_event();
}

std::string MessageWriter::end(const DoneEvent& done) const {
  const Json delta = {{"stop_reason", stop_reason(done)}, {"stop_sequence", stop_sequence(done)}};
  return named_event("content_block_stop", {{"type", "content_block_stop"}, {"index", 0}}) +
         named_event("message_delta",
                     {{"type", "message_delta"}, {"delta", delta}, {"usage", message_usage(done.usage)}}) +
         named_event("message_stop", {{"type", "message_stop"}});
}

/// Before message_start nothing may come that has a name.
std::string MessageWriter::waiting_event() const { return started_ ? ping_event() : ": waiting\n\n"; }

std::string MessageWriter::error_event(const ApiError& error) const {
  return fmt::format("event: error\ndata: {}\n\n", message_error_body(error, request_id_));
}

}  // namespace ferrox
