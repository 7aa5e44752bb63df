// How is a turn asked for in OpenAI's words?
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/scenario.h"

namespace ferrox {

enum class EndpointKind { kChat, kCompletions };

struct BodyOptions {
  EndpointKind endpoint = EndpointKind::kChat;
  std::string model;        ///< empty: the field isn't sent
  bool ignore_eos = false;  ///< no field of OpenAI's; servers that don't know it may refuse it
};

/// "/v1/chat/completions" or "/v1/completions".
const char* endpoint_path(EndpointKind kind);

/// What was said in a conversation so far: a turn's text, its answer, and so on.
class Dialogue {
 public:
  void add_turn(std::string text) { turns_.push_back({std::move(text), {}}); }
  void add_answer(std::string text) { turns_.back().answer = std::move(text); }

  /// A streamed request with usage and temperature 0 that asks for the answer to the last turn.
  std::string body(const BodyOptions& options, size_t output_tokens) const;

 private:
  struct Said {
    std::string text;
    std::string answer;
  };
  std::vector<Said> turns_;
};

}  // namespace ferrox
