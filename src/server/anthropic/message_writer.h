// What do events add up to in Anthropic's dialect? One message, whole or as a stream of named events.
#pragma once

#include <optional>
#include <string>

#include "server/answer/answer_writer.h"
#include "server/json_text.h"

namespace ferrox {

/// A stream is message_start, content_block_start, ping, content_block_delta*, content_block_stop, message_delta,
/// message_stop. It starts with the first event, which knows what of the prompt was cached; pings may stand anywhere
/// after that.
class MessageWriter : public AnswerWriter {
 public:
  MessageWriter(std::string model_id, std::string request_id);

  void collect(const ChoiceEvent& event) override;
  std::string whole_body() const override;
  std::string repeated_body(const std::string& body) const override;

  std::string opening_events() const override { return ""; }
  std::string events_of(const ChoiceEvent& event) override;
  std::string closing_events() const override { return ""; }
  std::string waiting_event() const override;
  std::string error_event(const ApiError& error) const override;

 private:
  std::string start();
  std::string end(const DoneEvent& done) const;

  std::string model_id_;
  std::string request_id_;
  std::string text_;  ///< of a whole answer
  Usage usage_;
  std::optional<DoneEvent> done_;
  bool started_ = false;
};

}  // namespace ferrox
