// How does a dialect write an answer? Events become bytes; nothing here knows of sockets.
#pragma once

#include <string>

#include "server/api_error.h"
#include "server/event_mailbox.h"

namespace ferrox {

class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;

  /// Takes an event (not an Error) into the whole answer.
  virtual void collect(const ChoiceEvent& event) = 0;
  /// After each choice has ended.
  virtual std::string whole_body() const = 0;
  /// Another answer's whole body as this one's: with its own number and time.
  virtual std::string repeated_body(const std::string& body) const = 0;

  /// The server-sent events that open a stream, follow from an event (not an Error), and close it. May be empty.
  virtual std::string opening_events() const = 0;
  virtual std::string events_of(const ChoiceEvent& event) = 0;
  virtual std::string closing_events() const = 0;

  /// Keeps a stream alive that has nothing to say.
  virtual std::string waiting_event() const = 0;
  /// The last event of a stream that failed.
  virtual std::string error_event(const ApiError& error) const = 0;
};

}  // namespace ferrox
