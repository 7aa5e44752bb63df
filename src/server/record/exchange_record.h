// What becomes of one request, from its head to its last event? Kept for its log line and its trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/request.h"
#include "server/record/request_trace.h"

namespace ferrox {

struct Endpoint;

/// Of all answers to one request, as far as they are known.
struct AnswerTotals {
  using Time = std::chrono::steady_clock::time_point;

  size_t n_answers = 0;
  int64_t n_prompt = 0;             ///< tokens of prompts, each counted once
  std::optional<int64_t> n_cached;  ///< of them, that were there; absent: none was admitted
  int64_t n_generated = 0;
  std::optional<Time> submitted;
  std::optional<Time> first_token;
  std::optional<Usage> usage;               ///< of the answer that ended first
  std::vector<std::string> finish_reasons;  ///< of answers that ended: "stop", "length", "cancelled", "error"
};

class ExchangeRecord : public std::enable_shared_from_this<ExchangeRecord> {
 public:
  /// Where a trace is kept it is told when the last one lets go: after the exchange, and after the engine's last event
  /// for it.
  ~ExchangeRecord();

  /// A sink for one answer: notes each event and passes it on. `leads`: the answer before isn't one to the same prompt.
  EventSink follow(bool leads, EventSink next);

  /// The engine took so many answers to prompts of so many tokens, each counted once. Events may have come already.
  void note_submitted(size_t n_answers, int64_t n_prompt, AnswerTotals::Time now);

  /// Any thread.
  AnswerTotals totals() const;

  const Endpoint* endpoint = nullptr;   ///< where it goes; nullptr: nowhere. I/O thread
  bool is_summed_up = false;            ///< the exchange is over, and its line written. I/O thread
  std::unique_ptr<RequestTrace> trace;  ///< nullptr: none is wanted. I/O thread

 private:
  /// Of one answer, on the engine thread.
  struct Answer {
    bool leads;  ///< its next event tells what was cached of the prompt
  };

  void note(const Event& event, Answer& answer);

  mutable std::mutex mutex_;
  AnswerTotals totals_;  ///< guarded by mutex_
};

}  // namespace ferrox
