// How did an answer end? A value that only the token loop can make, so that holding one proves that it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engine/request.h"

namespace ferrox {

class Finished {
 public:
  FinishReason reason() const { return reason_; }

  /// The answer reached an end of its own (the limit is one), so the same request would end the same way again.
  bool is_complete() const { return reason_ != FinishReason::kCancelled; }

  /// What was still held back when it ended.
  const std::string& text() const { return text_; }
  const std::optional<std::string>& matched_stop() const { return matched_stop_; }
  std::optional<int32_t> stop_token() const { return stop_token_; }

 private:
  friend class TokenLoop;
  Finished(FinishReason reason, std::string text) : reason_(reason), text_(std::move(text)) {}

  FinishReason reason_;
  std::string text_;
  std::optional<std::string> matched_stop_;
  std::optional<int32_t> stop_token_;
};

}  // namespace ferrox
