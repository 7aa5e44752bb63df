// What does a conversation in the terminal remember? Its messages, and how to go on from them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/chat_prompt.h"

namespace ferrox {

class ChatSession {
 public:
  /// Answers one prompt; run and tests bring their own.
  using Generate = std::function<Result<Answer>(const std::vector<ChatMessage>& messages, uint64_t seed)>;

  ChatSession(Generate generate, std::string system, uint64_t seed);

  /// Adds the user's message and the answer. When there is no answer, both are forgotten.
  Result<Answer> ask(const std::string& text);

  /// Drops the last answer and asks for another one, with another seed. Errors: nothing has been answered yet.
  Result<Answer> regenerate();

  /// Forgets everything but the system message.
  void clear();

  /// Replaces the system message (empty: none) and clears.
  void set_system(std::string system);

  /// {"messages": [...]}, which `ferrox template` renders. Errors: the file can't be written.
  Result<void> save(const std::string& path) const;

  const std::vector<ChatMessage>& messages() const { return messages_; }

 private:
  Result<Answer> answer();

  Generate generate_;
  std::string system_;
  uint64_t seed_;
  uint64_t n_answers_ = 0;
  std::vector<ChatMessage> messages_;
};

}  // namespace ferrox
