// How is a generation answered in OpenAI's dialect: as one object, or as a stream of chunks?
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/app.h"
#include "server/http/exchange.h"
#include "server/openai/answer_shape.h"
#include "server/openai/generation_params.h"

namespace ferrox {

/// A request that is ready for the engine.
struct PreparedAnswer {
  std::vector<GenerationRequest> requests;  ///< one per choice; choices of a prompt are neighbours
  std::unique_ptr<AnswerShape> shape;
  std::vector<HttpHeader> headers;  ///< what was ignored or adapted
  std::vector<uint64_t> seeds;      ///< of each choice
  int32_t n_per_prompt = 1;
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
};

/// Runs the requests and answers `exchange`, refusals included.
awaitable<void> answer(App& app, Exchange& exchange, PreparedAnswer prepared);

}  // namespace ferrox
