#include "server/streams/stream_reader.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "server/dialect.h"
#include "server/http/client_watch.h"
#include "server/record/summary_line.h"

namespace ferrox {
namespace {

/// Of one write: a reader that left a long time ago is told all of a window in pieces, so that it costs no second one.
constexpr size_t kPieceBytes = 64 << 10;

ApiError taken_over() {
  return ApiError(ErrorKind::kStreamTakenOver,
                  "stream: expected to be its only reader, found another one that came later");
}

ApiError no_such_stream() {
  return ApiError(ErrorKind::kNotFound,
                  "stream: expected one of yours that runs or has just ended, found none of this id");
}

ApiError events_gone(const EventWindow& window, uint64_t after) {
  return ApiError(ErrorKind::kEventsGone,
                  fmt::format("last-event-id: events {} to {} are gone, {} to {} are still there", after + 1,
                              window.first() - 1, window.first(), window.last()));
}

awaitable<void> refuse_reader(Exchange& exchange, const ApiError& error) {
  HttpResponse response = refusal(exchange.request(), error);
  co_await exchange.respond(std::move(response));
}

/// What an EventSource takes as the end: it doesn't come again.
awaitable<void> tell_nothing_follows(Exchange& exchange) {
  HttpResponse response;
  response.status = 204;
  co_await exchange.respond(std::move(response));
}

/// Writes what follows `after` until there is nothing more to write, or nobody to write it to.
awaitable<void> tell_all(App& app, Exchange& exchange, HeldStream& stream, const HeldStream::Attachment& attachment,
                         uint64_t after) {
  for (bool is_late = false;;) {
    if (exchange.client_gone()) co_return;
    if (!attachment.is_current()) {
      std::string last = stream.writer().error_event(taken_over());
      co_await exchange.write(std::move(last));
      break;
    }
    if (!stream.window().can_follow(after)) {
      log_request(spdlog::level::info, exchange.request().id, "cut off: the client reads its stream too slowly");
      exchange.abort();
      co_return;
    }
    EventWindow::Piece piece = stream.window().after(after, kPieceBytes);
    const bool is_last = stream.is_finished() && piece.last == stream.window().last();
    if (piece.bytes.empty() && !is_last && is_late) piece.bytes = stream.writer().waiting_event();
    after = piece.last;
    if (!piece.bytes.empty() && !co_await exchange.write(std::move(piece.bytes))) co_return;
    if (is_last) {
      stream.note_told();
      break;
    }
    const bool has_news =
        stream.is_finished() || stream.window().last() > after || !attachment.is_current() || exchange.client_gone();
    is_late = !has_news && co_await stream.is_quiet_for(app.options().keepalive_interval);
  }
  co_await exchange.end_stream();
}

}  // namespace

awaitable<void> send_events(App& app, Exchange& exchange, HeldStream& stream, uint64_t after,
                            std::vector<HttpHeader> headers) {
  const HeldStream::Attachment attachment(stream);
  const ClientWatch watch(exchange, [&stream] { stream.wake(); });
  while (!stream.has_begun() && attachment.is_current() && !exchange.client_gone()) {
    co_await stream.is_quiet_for(app.options().keepalive_interval);
  }
  if (exchange.client_gone()) co_return;
  if (stream.refusal()) {
    HttpResponse refused = refusal(exchange.request(), *stream.refusal());
    refused.headers.insert(refused.headers.end(), headers.begin(), headers.end());
    co_await exchange.respond(std::move(refused));
    co_return;
  }
  headers.push_back({"x-ferrox-stream-id", stream.id()});
  HttpResponse head = event_stream_head(exchange.request(), std::move(headers));
  if (!co_await exchange.begin_stream(std::move(head))) co_return;
  co_await tell_all(app, exchange, stream, attachment, after);
}

awaitable<void> resume_stream(App& app, Exchange& exchange, EventId from) {
  const std::shared_ptr<HeldStream> stream = app.streams().find(from.stream, exchange.request().caller);
  if (stream == nullptr) co_return co_await refuse_reader(exchange, no_such_stream());
  const EventWindow& window = stream->window();
  if (from.number > window.last()) {
    co_return co_await refuse_reader(
        exchange,
        invalid_request("last-event-id", fmt::format("last-event-id: expected an event from 1 to {}, found {}",
                                                     window.last(), from.number)));
  }
  if (!window.can_follow(from.number)) {
    app.streams().count_gone();
    co_return co_await refuse_reader(exchange, events_gone(window, from.number));
  }
  app.streams().count_resume();
  if (stream->is_finished() && from.number > 0 && from.number == window.last()) {
    stream->note_told();
    co_return co_await tell_nothing_follows(exchange);
  }
  if (exchange.request().method == "HEAD") {
    HttpResponse head = event_stream_head(exchange.request(), {});
    co_await exchange.respond(std::move(head));
    co_return;
  }
  std::vector<HttpHeader> headers;
  co_await send_events(app, exchange, *stream, from.number, std::move(headers));
}

awaitable<void> resume_by_header(App& app, Exchange& exchange) {
  ApiResult<EventId> place = parse_event_id(exchange.request().header("last-event-id"));
  if (!place) co_return co_await refuse_reader(exchange, place.error());
  EventId from = std::move(*place);
  co_await resume_stream(app, exchange, std::move(from));
}

bool is_resume(const HttpRequest& request) { return !request.header("last-event-id").empty(); }

}  // namespace ferrox
