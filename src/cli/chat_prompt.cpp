#include "cli/chat_prompt.h"

namespace ferrox {

Result<std::vector<int32_t>> chat_prompt(const Engine& engine, const std::vector<ChatMessage>& messages) {
  ChatInput input;
  for (const auto& message : messages) input.messages.push_back({{"role", message.role}, {"content", message.content}});
  TRY_ASSIGN(const ChatPrompt prompt, engine.chat_template().render(input));
  std::vector<TextSegment> segments;
  for (const auto& segment : prompt.rendered.segments()) {
    segments.push_back({segment.text, segment.is_template ? SpecialTokens::kParse : SpecialTokens::kAsText});
  }
  return engine.tokenizer().add_bos(engine.tokenizer().encode(segments));
}

std::vector<int32_t> raw_prompt(const Engine& engine, const std::string& text) {
  return engine.tokenizer().add_bos(engine.tokenizer().encode(text, SpecialTokens::kParse));
}

}  // namespace ferrox
