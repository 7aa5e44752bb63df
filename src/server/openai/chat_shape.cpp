// How does a choice of a chat look?
#include "server/openai/answer_shape.h"
#include "server/openai/logprobs.h"

namespace ferrox {
namespace {

class ChatShape : public AnswerShape {
 public:
  ChatShape(const Tokenizer& tokenizer, Logprobs logprobs) : tokenizer_(tokenizer), logprobs_(logprobs) {}

  const char* id_prefix() const override { return "chatcmpl-"; }
  const char* whole_object() const override { return "chat.completion"; }
  const char* chunk_object() const override { return "chat.completion.chunk"; }

  Json whole_choice(size_t index, const FinishedChoice& choice) const override {
    Json message = {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}};
    return {{"index", index},
            {"message", std::move(message)},
            {"logprobs", logprobs_json(choice.tokens)},
            {"finish_reason", finish_reason_name(choice.reason)}};
  }

  Json opening_choice(size_t index) const override {
    return chunk(index, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr);
  }

  Json piece_choice(size_t index, const std::string& text, const std::vector<ScoredToken>& tokens) const override {
    return chunk(index, {{"content", text}}, logprobs_json(tokens), nullptr);
  }

  Json last_choice(size_t index, FinishReason reason) const override {
    return chunk(index, Json::object(), nullptr, finish_reason_name(reason));
  }

 private:
  static Json chunk(size_t index, Json delta, Json logprobs, Json finish_reason) {
    return {{"index", index},
            {"delta", std::move(delta)},
            {"logprobs", std::move(logprobs)},
            {"finish_reason", std::move(finish_reason)}};
  }

  Json logprobs_json(const std::vector<ScoredToken>& tokens) const {
    return logprobs_ == Logprobs::kNone ? Json(nullptr) : chat_logprobs(tokens, tokenizer_);
  }

  const Tokenizer& tokenizer_;
  Logprobs logprobs_;
};

}  // namespace

std::unique_ptr<AnswerShape> make_chat_shape(const Tokenizer& tokenizer, Logprobs logprobs) {
  return std::make_unique<ChatShape>(tokenizer, logprobs);
}

}  // namespace ferrox
