// How does a command get an answer from the engine? It submits one request and hands out the text as it comes.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace ferrox {

struct AnswerSinks {
  std::function<void(const std::string& piece)> on_text;
  std::function<void(int64_t n_processed, int64_t n_prompt)> on_prompt_progress;
  std::function<bool()> is_interrupted;  ///< asked several times a second; true cancels the request
};

struct Answer {
  std::string text;
  FinishReason reason;
  Usage usage;
};

/// Blocks until the request ends. Errors: what the engine refuses, or fails with on the way.
Result<Answer> generate_answer(Engine& engine, GenerationRequest request, const AnswerSinks& sinks);

/// "prompt 20 tokens, 512 t/s; answer 12 tokens, 98 t/s; first token after 32 ms".
std::string speed_line(const Usage& usage);

}  // namespace ferrox
