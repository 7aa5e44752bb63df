// What do events add up to? Text, tokens and usage of each choice, and the JSON around them.
#pragma once

#include <string>
#include <vector>

#include "server/answer/answer_writer.h"
#include "server/event_mailbox.h"
#include "server/openai/candidate_scores.h"
#include "server/openai/logprob_ledger.h"
#include "server/openai/prepared_answer.h"

namespace ferrox {

/// Turns events into the objects of one answer. Knows nothing of sockets.
class AnswerBuilder : public AnswerWriter {
 public:
  /// Of `prepared` its requests aren't used. `tokenizer` outlives the builder.
  AnswerBuilder(PreparedAnswer prepared, const Tokenizer& tokenizer, std::string model_id,
                const std::string& request_id);

  void collect(const ChoiceEvent& event) override;
  std::string whole_body() const override;
  std::string repeated_body(const std::string& body) const override;
  std::string opening_events() const override;
  std::string events_of(const ChoiceEvent& event) override;
  std::string closing_events() const override;
  std::string waiting_event() const override { return ": waiting\n\n"; }
  std::string error_event(const ApiError& error) const override;

 private:
  std::string chunk(const Json& choice) const;
  Json envelope(const char* object) const;

  const PreparedAnswer prepared_;
  const Tokenizer& tokenizer_;
  std::string model_id_;
  std::string answer_id_;
  int64_t created_;
  const std::string chunk_before_;  ///< JSON around the choice of a chunk: the same for each token
  const std::string chunk_behind_;
  std::vector<LogprobLedger> ledgers_;
  std::vector<FinishedChoice> choices_;
  std::vector<Usage> usages_;
  CandidateScores scores_;
};

/// "data: <payload>\n\n"
std::string sse_data(const std::string& payload);

}  // namespace ferrox
