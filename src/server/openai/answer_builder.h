// What do events add up to? Text, tokens and usage of each choice, and the JSON around them.
#pragma once

#include <string>
#include <vector>

#include "server/event_mailbox.h"
#include "server/openai/answer.h"
#include "server/openai/logprob_ledger.h"

namespace ferrox {

/// Turns events into the objects of one answer. Knows nothing of sockets.
class AnswerBuilder {
 public:
  /// `prepared` and `tokenizer` outlive the builder.
  AnswerBuilder(const PreparedAnswer& prepared, const Tokenizer& tokenizer, std::string model_id,
                const std::string& request_id);

  /// Takes an event (not an Error) into the whole answer.
  void collect(const ChoiceEvent& event);
  /// After each choice has ended.
  std::string whole_body() const;

  /// The chunks, as server-sent events, that open the stream, follow from an event (not an Error), and close it.
  std::string opening_events() const;
  std::string events_of(const ChoiceEvent& event);
  std::string closing_events() const;

 private:
  std::string chunk(Json choice) const;
  Json envelope(const char* object) const;

  const PreparedAnswer& prepared_;
  const Tokenizer& tokenizer_;
  std::string model_id_;
  std::string answer_id_;
  int64_t created_;
  std::vector<LogprobLedger> ledgers_;
  std::vector<FinishedChoice> choices_;
  std::vector<Usage> usages_;
};

/// "data: <payload>\n\n"
std::string sse_data(const std::string& payload);

}  // namespace ferrox
