#include "server/streams/stream_run.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <utility>
#include <vector>

#include "base/log.h"

namespace ferrox {
namespace {

/// Whatever was said until then stays; nothing was: the reader is told by status.
void fail_stream(HeldStream& stream, const ApiError& error) {
  if (!stream.has_begun()) return stream.refuse(error);
  stream.append(stream.writer().error_event(error));
}

/// False when nothing follows.
bool tell_events(App& app, HeldStream& stream, const Generation& generation, const std::vector<ChoiceEvent>& events) {
  for (const ChoiceEvent& event : events) {
    if (const auto* error = std::get_if<Error>(&event.event)) {
      fail_stream(stream, app.run_failure(*error));
      return false;
    }
    if (!stream.has_begun()) stream.append(stream.writer().opening_events());
    stream.append(stream.writer().events_of(event));
  }
  if (!generation.finished()) return true;
  stream.append(stream.writer().closing_events());
  return false;
}

awaitable<void> follow_generation(App& app, HeldStream& stream, Generation& generation) {
  const auto patience = app.streams().options().patience;
  auto longest = app.options().first_event_wait;
  for (bool goes_on = true; goes_on;) {
    const std::vector<ChoiceEvent> events = co_await generation.take(longest);
    longest = app.options().keepalive_interval;
    goes_on = tell_events(app, stream, generation, events);
    if (goes_on && !stream.has_begun()) stream.append(stream.writer().opening_events());
    if (goes_on && stream.is_abandoned(std::chrono::steady_clock::now(), patience)) generation.cancel();
  }
}

awaitable<void> run_stream(App& app, std::shared_ptr<HeldStream> stream, std::unique_ptr<Generation> generation) {
  std::string failure;
  try {
    co_await follow_generation(app, *stream, *generation);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  generation.reset();
  if (!failure.empty()) {
    log().error("stream: {}", failure);
    fail_stream(*stream, ApiError(ErrorKind::kInternal, failure));
  }
  stream->finish();
  if (!stream->refusal()) co_await stream->linger(app.streams().options().patience);
  app.streams().remove(*stream);
}

}  // namespace

void start_stream(App& app, std::shared_ptr<HeldStream> stream, std::unique_ptr<Generation> generation) {
  asio::co_spawn(app.executor(), run_stream(app, std::move(stream), std::move(generation)), asio::detached);
}

}  // namespace ferrox
