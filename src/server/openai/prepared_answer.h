// What is known of a request of OpenAI's dialect before it runs?
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/request.h"
#include "server/http/message.h"
#include "server/openai/answer_shape.h"

namespace ferrox {

/// A request that is ready for the engine.
struct PreparedAnswer {
  std::vector<GenerationRequest> requests;  ///< one per choice; choices of a prompt are neighbours
  std::unique_ptr<AnswerShape> shape;
  std::vector<HttpHeader> headers;  ///< what was ignored or adapted
  std::vector<uint64_t> seeds;      ///< of each choice
  int32_t n_per_prompt = 1;
  int32_t n_told = 1;  ///< choices of each prompt that a whole answer has: the most likely ones
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  bool is_repeatable = false;  ///< the same request gives the same text
};

}  // namespace ferrox
