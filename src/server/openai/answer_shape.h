// Where do chats and completions differ? In the names and in the shape of one choice.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/json_text.h"
#include "server/openai/logprob_ledger.h"

namespace ferrox {

/// A choice that has ended.
struct FinishedChoice {
  std::string text;
  std::vector<ScoredToken> tokens;  ///< filled when log-probabilities were asked for
  FinishReason reason = FinishReason::kStop;
};

/// Makes the objects of `choices`, whole and in pieces. `index` counts from 0.
class AnswerShape {
 public:
  virtual ~AnswerShape() = default;

  virtual const char* id_prefix() const = 0;     ///< "chatcmpl-"
  virtual const char* whole_object() const = 0;  ///< "chat.completion"
  virtual const char* chunk_object() const = 0;

  virtual Json whole_choice(size_t index, const FinishedChoice& choice) const = 0;
  /// What a stream says of a choice before its first token; null: nothing.
  virtual Json opening_choice(size_t index) const = 0;
  /// `tokens` is empty when log-probabilities weren't asked for.
  virtual Json piece_choice(size_t index, const std::string& text, const std::vector<ScoredToken>& tokens) const = 0;
  virtual Json last_choice(size_t index, FinishReason reason) const = 0;
};

enum class Logprobs { kNone, kTold };

/// `tokenizer` outlives the shape.
std::unique_ptr<AnswerShape> make_chat_shape(const Tokenizer& tokenizer, Logprobs logprobs);

/// `echoes[i]` stands in front of choice i's text.
std::unique_ptr<AnswerShape> make_completion_shape(const Tokenizer& tokenizer, Logprobs logprobs,
                                                   std::vector<std::string> echoes);

}  // namespace ferrox
