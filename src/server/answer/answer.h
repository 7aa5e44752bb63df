// How is a generation answered in any dialect: as one object, or as a stream of events?
#pragma once

#include <memory>
#include <vector>

#include "server/answer/answer_writer.h"
#include "server/app.h"
#include "server/http/exchange.h"

namespace ferrox {

enum class Delivery { kWhole, kStreamed };

/// What is run, and how its answer goes out.
struct AnswerJob {
  std::vector<GenerationRequest> requests;  ///< one per choice
  std::vector<HttpHeader> headers;          ///< of the answer, refusals included
  Delivery delivery = Delivery::kWhole;
  bool is_repeatable = false;  ///< the same request gives the same text
};

/// Runs the requests and answers `exchange`, refusals included. With `x-ferrox-resumable: true` a streamed answer
/// outlives its connection (server/streams), refused where it can't.
awaitable<void> answer(App& app, Exchange& exchange, AnswerJob job, std::unique_ptr<AnswerWriter> writer);

}  // namespace ferrox
