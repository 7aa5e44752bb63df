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
    "<minimax:tool_call>",     // MiniMax
    "<|python_tag|>",          // Llama 3
    "<function_call>",
};

}  // namespace

int32_t find_call_opener(std::string_view template_source, const Tokenizer& tokenizer) {
  for (const std::string_view opener : kOpeners) {
    if (template_source.find(opener) == std::string_view::npos) continue;
    const std::vector<int32_t> ids = tokenizer.encode(opener, SpecialTokens::kParse);
    return ids.size() == 1 ? ids.front() : -1;
  }
  return -1;
}

}  // namespace ferrox
