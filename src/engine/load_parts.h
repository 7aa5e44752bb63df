// How does a file become the parts of an engine?
#pragma once

#include "base/result.h"
#include "engine/engine.h"

namespace ferrox {

/// Opens the file (or the bundled model), loads model, tokenizer and chat template, and reads the weights in once, so
/// that the first request doesn't wait for the disk; on_load_progress follows that. Locks them in memory where the
/// options say so; a system that refuses it is an error.
Result<EngineParts> load_parts(const EngineOptions& options);

}  // namespace ferrox
