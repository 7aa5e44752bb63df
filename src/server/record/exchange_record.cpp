#include "server/record/exchange_record.h"

#include <utility>

namespace ferrox {

ExchangeRecord::~ExchangeRecord() {
  if (trace != nullptr) trace->tell(totals_);
}

void ExchangeRecord::note_submitted(size_t n_answers, int64_t n_prompt, AnswerTotals::Time now) {
  const std::lock_guard lock(mutex_);
  totals_.n_answers = n_answers;
  totals_.n_prompt = n_prompt;
  totals_.submitted = now;
}

EventSink ExchangeRecord::follow(bool leads, EventSink next) {
  return [self = shared_from_this(), answer = Answer{leads}, then = std::move(next)](Event event) mutable {
    self->note(event, answer);
    then(std::move(event));
  };
}

void ExchangeRecord::note(const Event& event, Answer& answer) {
  const std::lock_guard lock(mutex_);
  if (const auto* progress = std::get_if<PromptProgressEvent>(&event); progress != nullptr && answer.leads) {
    totals_.n_cached = totals_.n_cached.value_or(0) + progress->n_cached;
    answer.leads = false;
  }
  if (std::holds_alternative<TokenEvent>(event)) {
    ++totals_.n_generated;
    if (!totals_.first_token) totals_.first_token = std::chrono::steady_clock::now();
  }
  if (const auto* done = std::get_if<DoneEvent>(&event)) {
    totals_.finish_reasons.emplace_back(finish_reason_name(done->reason));
    if (!totals_.usage) totals_.usage = done->usage;
  }
  if (std::holds_alternative<Error>(event)) totals_.finish_reasons.emplace_back("error");
}

AnswerTotals ExchangeRecord::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

}  // namespace ferrox
