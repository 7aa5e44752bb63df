#include "engine/call_opener.h"

#include <vector>

namespace ferrox {
namespace {

/// How families begin a tool call. Of two that a template names, the earlier row is the more telling.
constexpr std::string_view kOpeners[] = {
    "<tool_call>",             // Qwen 2.5 and 3, Hermes, GLM, Granite 4
    "[TOOL_CALLS]",            // Mistral
    "<|tool_call_begin|>",     // Kimi
    "<｜tool▁calls▁begin｜>",  // DeepSeek
    "<|tool_call>",            // Gemma 4
    "<start_function_call>",   // FunctionGemma
    "<|START_ACTION|>",        // Command R
    "<|tool_call_start|>",     // LFM2
    "<|tool_call|>",           // Granite 3, Phi-4
    "<minimax:tool_call>",     // MiniMax M2
    "<seed:tool_call>",        // Seed-OSS
    "<tool_calls>",            // MiniMax M1
    "<|python_tag|>",          // Llama 3
    "<function_call>",
};

}  // namespace

std::string_view call_opener_text(std::string_view template_source) {
  for (const std::string_view opener : kOpeners) {
    if (template_source.find(opener) != std::string_view::npos) return opener;
  }
  return {};
}

int32_t find_call_opener(std::string_view template_source, const Tokenizer& tokenizer) {
  const std::string_view opener = call_opener_text(template_source);
  if (opener.empty()) return -1;
  const std::vector<int32_t> ids = tokenizer.encode(opener, SpecialTokens::kParse);
  return ids.size() == 1 ? ids.front() : -1;
}

}  // namespace ferrox
