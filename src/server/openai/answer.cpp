// How does an answer wait for its events, and what ends it early?
#include "server/openai/answer.h"

#include <chrono>

#include "server/generation.h"
#include "server/openai/answer_builder.h"

namespace ferrox {
namespace {

using std::chrono::milliseconds;

/// A whole answer has nothing to say meanwhile; waking now and then costs nothing.
constexpr milliseconds kWholeAnswerWait{60'000};

/// For a client that closed only its sending side and still reads.
ApiError client_closed() {
  return ApiError(499, "invalid_request_error", "client_closed_request",
                  "connection: expected to stay open while the answer is made, found closed by the client");
}

const Error* find_error(const std::vector<ChoiceEvent>& events) {
  for (const ChoiceEvent& event : events) {
    if (const auto* error = std::get_if<Error>(&event.event)) return error;
  }
  return nullptr;
}

awaitable<void> refuse(Exchange& exchange, const ApiError& error, const std::vector<HttpHeader>& headers) {
  HttpResponse response = error_response(error);
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  co_await exchange.respond(std::move(response));
}

awaitable<void> answer_whole(App& app, Exchange& exchange, Generation& generation, const PreparedAnswer& prepared) {
  AnswerBuilder builder(prepared, app.engine().tokenizer(), app.engine().model_id(), exchange.request().id);
  while (!generation.finished()) {
    const auto events = co_await generation.take(kWholeAnswerWait);
    if (generation.client_gone()) {
      co_await refuse(exchange, client_closed(), prepared.headers);
      co_return;
    }
    if (const Error* error = find_error(events)) {
      co_await refuse(exchange, app.run_failure(*error), prepared.headers);
      co_return;
    }
    for (const ChoiceEvent& event : events) builder.collect(event);
  }
  HttpResponse response;
  response.headers = prepared.headers;
  response.body = builder.whole_body();
  co_await exchange.respond(std::move(response));
}

/// The stream's next bytes; `ended` when nothing may follow.
struct StreamPiece {
  std::string bytes;
  bool ended = false;
};

StreamPiece next_piece(App& app, const Generation& generation, AnswerBuilder& builder,
                       const std::vector<ChoiceEvent>& events) {
  if (generation.client_gone()) return {sse_data(error_body(client_closed())), true};
  if (events.empty()) return {": waiting\n\n", false};
  StreamPiece piece;
  for (const ChoiceEvent& event : events) {
    if (const auto* error = std::get_if<Error>(&event.event)) {
      piece.bytes += sse_data(error_body(app.run_failure(*error)));
      piece.ended = true;
      return piece;
    }
    piece.bytes += builder.events_of(event);
  }
  piece.ended = generation.finished();
  if (piece.ended) piece.bytes += builder.closing_events();
  return piece;
}

HttpResponse stream_head(const PreparedAnswer& prepared) {
  HttpResponse head;
  head.content_type = "text/event-stream; charset=utf-8";
  head.headers = prepared.headers;
  head.headers.push_back({"cache-control", "no-cache"});
  head.headers.push_back({"x-accel-buffering", "no"});
  return head;
}

awaitable<void> answer_stream(App& app, Exchange& exchange, Generation& generation, const PreparedAnswer& prepared) {
  AnswerBuilder builder(prepared, app.engine().tokenizer(), app.engine().model_id(), exchange.request().id);
  auto events = co_await generation.take(app.options().first_event_wait);
  if (generation.client_gone()) co_return;
  if (const Error* error = find_error(events)) {
    co_await refuse(exchange, app.run_failure(*error), prepared.headers);
    co_return;
  }
  HttpResponse head = stream_head(prepared);
  if (!co_await exchange.begin_stream(std::move(head))) co_return;
  std::string opening = builder.opening_events();
  if (!co_await exchange.write(std::move(opening))) co_return;
  for (;;) {
    StreamPiece piece = next_piece(app, generation, builder, events);
    if (!co_await exchange.write(std::move(piece.bytes))) co_return;
    if (piece.ended) break;
    events = co_await generation.take(app.options().keepalive_interval);
  }
  co_await exchange.end_stream();
}

}  // namespace

awaitable<void> answer(App& app, Exchange& exchange, PreparedAnswer prepared) {
  Generation generation(app, exchange);
  if (const auto submitted = generation.submit(std::move(prepared.requests)); !submitted) {
    co_await refuse(exchange, submitted.error(), prepared.headers);
    co_return;
  }
  if (prepared.stream) {
    co_await answer_stream(app, exchange, generation, prepared);
  } else {
    co_await answer_whole(app, exchange, generation, prepared);
  }
}

}  // namespace ferrox
