// How does a streamed answer become a record? Events are read as they come, until there is nothing more to want.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "loadgen/record.h"
#include "loadgen/sse_reader.h"

namespace ferrox {

class AnswerReader {
 public:
  /// `record` outlives the reader. `drop_after`: the answer is wanted no more after so many tokens.
  AnswerReader(RequestRecord& record, std::optional<size_t> drop_after) : record_(record), drop_after_(drop_after) {}

  /// Bytes that came at `now_ms`. False: the answer is settled, the outcome is set and the connection can be closed.
  bool take(std::string_view bytes, double now_ms);

  /// The body has ended as HTTP says that it would.
  void finish();

  /// The answer's text so far, without what the model thought before it.
  const std::string& content() const { return content_; }

 private:
  /// False: nothing after this event is wanted.
  bool take_event(std::string_view data, double now_ms);
  void fail(std::string message);

  RequestRecord& record_;
  const std::optional<size_t> drop_after_;
  SseReader events_;
  std::string content_;
  std::string finish_reason_;
  bool is_settled_ = false;
};

}  // namespace ferrox
