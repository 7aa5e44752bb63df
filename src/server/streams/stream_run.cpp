#include "server/streams/stream_run.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/core/demangle.hpp>

#include <chrono>
#include <typeinfo>
#include <utility>
#include <vector>

#include "server/answer/answer_piece.h"
#include "server/record/summary_line.h"

namespace ferrox {
namespace {

/// Whatever was said until then stays; nothing was: the reader is told by status.
void fail_stream(HeldStream& stream, const ApiError& error) {
  if (!stream.has_begun()) return stream.refuse(error);
  stream.append(stream.writer().error_event(error));
}

/// False when nothing follows.
bool tell_events(App& app, HeldStream& stream, const Generation& generation, const std::vector<ChoiceEvent>& events) {
  const bool begins = !stream.has_begun() && !events.empty() && !std::holds_alternative<Error>(events.front().event);
  if (begins) stream.append(stream.writer().opening_events());
  const AnswerPiece piece = next_piece(app, generation, stream.writer(), events);
  if (!piece.bytes.empty()) stream.append(piece.bytes);
  if (piece.failure) fail_stream(stream, *piece.failure);
  return !piece.is_last;
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

/// A library's message may quote what the client sent.
void log_failure(const App& app, const std::string& request_id, const std::exception& error) {
  const std::string kind = boost::core::demangle(typeid(error).name());
  log_request(spdlog::level::err, request_id, "the stream failed",
              {{"exception", app.options().log_prompts ? error.what() : kind}});
}

awaitable<void> run_stream(App& app, std::shared_ptr<HeldStream> stream, std::unique_ptr<Generation> generation) {
  try {
    co_await follow_generation(app, *stream, *generation);
  } catch (const std::exception& error) {
    log_failure(app, generation->id(), error);
    fail_stream(*stream, ApiError(ErrorKind::kInternal, error.what()));
  }
  if (generation->record()->is_summed_up) {
    log_stream_end(generation->id(), generation->arrival(), *generation->record());
  }
  generation.reset();
  stream->finish(std::chrono::steady_clock::now());
  if (!stream->refusal()) co_await stream->linger(app.streams().options().patience);
  app.streams().remove(*stream);
}

}  // namespace

void start_stream(App& app, std::shared_ptr<HeldStream> stream, std::unique_ptr<Generation> generation) {
  asio::co_spawn(app.executor(), run_stream(app, std::move(stream), std::move(generation)), asio::detached);
}

}  // namespace ferrox
