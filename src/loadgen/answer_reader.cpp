#include "loadgen/answer_reader.h"

#include <utility>

#include "loadgen/stream_event.h"

namespace ferrox {
namespace {

/// Words by which servers say that they ended an answer on their own account.
bool is_broken_off(std::string_view finish_reason) {
  return finish_reason == "cancelled" || finish_reason == "abort" || finish_reason == "error";
}

void keep_newest(std::optional<int64_t>& count, const std::optional<int64_t>& told) {
  if (told) count = told;
}

}  // namespace

void AnswerReader::fail(std::string message) {
  record_.outcome = Outcome::kFailed;
  record_.error = std::move(message);
  is_settled_ = true;
}

bool AnswerReader::take_event(std::string_view data, double now_ms) {
  if (data == "[DONE]") {
    if (is_broken_off(finish_reason_)) {
      fail("answer: expected a whole one, found finish_reason '" + one_line(finish_reason_) + "'");
    } else {
      record_.outcome = Outcome::kOk;
      is_settled_ = true;
    }
    return false;
  }
  const auto event = read_stream_event(data);
  if (!event) {
    fail(event.error().message);
    return false;
  }
  if (!event->error.empty()) {
    fail("error in the stream: " + one_line(event->error));
    return false;
  }
  if (event->has_text()) record_.token_ms.push_back(now_ms);
  content_ += event->content;
  if (!event->finish_reason.empty()) finish_reason_ = event->finish_reason;
  keep_newest(record_.prompt_tokens, event->prompt_tokens);
  keep_newest(record_.completion_tokens, event->completion_tokens);
  keep_newest(record_.cached_tokens, event->cached_tokens);
  if (!drop_after_ || record_.token_ms.size() < *drop_after_) return true;
  record_.outcome = Outcome::kCancelled;
  is_settled_ = true;
  return false;
}

bool AnswerReader::take(std::string_view bytes, double now_ms) {
  if (is_settled_) return false;
  for (const auto& data : events_.take(bytes)) {
    if (!take_event(data, now_ms)) return false;
  }
  return true;
}

void AnswerReader::finish() {
  if (is_settled_) return;
  if (const std::string data = events_.finish(); data == "[DONE]") take_event(data, 0);
  if (is_settled_) return;
  // Without [DONE] the last word is the reason for which the answer ended.
  if (!finish_reason_.empty()) {
    take_event("[DONE]", 0);
  } else {
    fail("answer: expected data: [DONE] at its end, found the end of the stream");
  }
}

}  // namespace ferrox
