// GET /v1/streams/{id}: takes up a stream that was begun with x-ferrox-resumable, behind the event of Last-Event-ID.
#include <fmt/format.h>

#include "server/dialect.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/streams/stream_reader.h"

namespace ferrox {
namespace {

/// Without the header all of the stream is asked for.
ApiResult<EventId> asked_place(const HttpRequest& request) {
  if (!is_resume(request)) return EventId{request.path_parameter, 0};
  TRY_ASSIGN(EventId place, parse_event_id(request.header("last-event-id")));
  if (place.stream == request.path_parameter) return place;
  return invalid_request("last-event-id",
                         "last-event-id: expected an event of the stream of the path, found another's");
}

awaitable<void> take_up(App& app, Exchange& exchange) {
  ApiResult<EventId> place = asked_place(exchange.request());
  if (!place) {
    HttpResponse refused = refusal(exchange.request(), place.error());
    co_await exchange.respond(std::move(refused));
    co_return;
  }
  EventId from = std::move(*place);
  co_await resume_stream(app, exchange, std::move(from));
}

}  // namespace

extern const Endpoint endpoint_stream{
    .method = "GET",
    .path = "/v1/streams/{id}",
    .access = Access::kKey,
    .summary = "Takes up a stream that was asked to be resumable, behind the event of Last-Event-ID",
    .handle = take_up,
    .detail = "Without the header all of the stream is told. A later reader takes it over from an earlier one.",
    .answer = AnswerKind::kEvents,
    .refusals = {ErrorKind::kNotFound, ErrorKind::kEventsGone, ErrorKind::kStreamTakenOver},
    .opens_by_path = true,
};

}  // namespace ferrox
