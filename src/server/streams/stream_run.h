// Who makes a stream that outlives its connection? A coroutine that belongs to no exchange.
#pragma once

#include <memory>

#include "server/app.h"
#include "server/generation.h"
#include "server/streams/held_stream.h"

namespace ferrox {

/// Follows what was submitted to its end, and keeps the stream from there on for as long as options say; then the
/// stream leaves `app.streams()`. A stream that nobody is attached to for too long is cancelled.
void start_stream(App& app, std::shared_ptr<HeldStream> stream, std::unique_ptr<Generation> generation);

}  // namespace ferrox
