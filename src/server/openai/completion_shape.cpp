// How does a choice of a completion look?
#include "server/openai/answer_shape.h"
#include "server/openai/logprobs.h"

namespace ferrox {
namespace {

class CompletionShape : public AnswerShape {
 public:
  CompletionShape(const Tokenizer& tokenizer, Logprobs logprobs, std::vector<std::string> echoes)
      : tokenizer_(tokenizer), logprobs_(logprobs), echoes_(std::move(echoes)) {}

  const char* id_prefix() const override { return "cmpl-"; }
  const char* whole_object() const override { return "text_completion"; }
  const char* chunk_object() const override { return "text_completion"; }

  Json whole_choice(size_t index, const FinishedChoice& choice) const override {
    return piece(index, echoes_[index] + choice.text, choice.tokens, finish_reason_name(choice.reason));
  }

  Json opening_choice(size_t index) const override {
    if (echoes_[index].empty()) return nullptr;
    return piece(index, echoes_[index], {}, nullptr);
  }

  Json piece_choice(size_t index, const std::string& text, const std::vector<ScoredToken>& tokens) const override {
    return piece(index, text, tokens, nullptr);
  }

  Json last_choice(size_t index, FinishReason reason) const override {
    return {{"index", index}, {"text", ""}, {"logprobs", nullptr}, {"finish_reason", finish_reason_name(reason)}};
  }

 private:
  Json piece(size_t index, std::string text, const std::vector<ScoredToken>& tokens, Json finish_reason) const {
    Json logprobs;
    if (logprobs_ == Logprobs::kTold) {
      logprobs = completion_logprobs(tokens, tokenizer_, count_characters(echoes_[index]));
    }
    return {{"index", index},
            {"text", std::move(text)},
            {"logprobs", std::move(logprobs)},
            {"finish_reason", std::move(finish_reason)}};
  }

  const Tokenizer& tokenizer_;
  Logprobs logprobs_;
  std::vector<std::string> echoes_;
};

}  // namespace

std::unique_ptr<AnswerShape> make_completion_shape(const Tokenizer& tokenizer, Logprobs logprobs,
                                                   std::vector<std::string> echoes) {
  return std::make_unique<CompletionShape>(tokenizer, logprobs, std::move(echoes));
}

}  // namespace ferrox
