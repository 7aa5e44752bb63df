// How do run and chat get an engine and show what it does? Progress on a terminal, nothing in a pipe.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/interrupt.h"
#include "engine/engine.h"

namespace ferrox {

/// Loads an engine, with a progress bar when somebody watches.
Result<std::unique_ptr<Engine>> load_engine(EngineOptions options);

/// Streams an answer to stdout as it comes, a bar for a long prompt before it, and ends it with a newline. Ctrl-C ends
/// the answer: it is returned with FinishReason::kCancelled.
Result<Answer> print_answer(Engine& engine, GenerationRequest request, const InterruptGuard& interrupts);

}  // namespace ferrox
