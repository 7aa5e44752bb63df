// POST /v1/cancel: stops a running request by the id that its answer or its x-request-id header carries.
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"
#include "server/openai/endpoint_steps.h"
#include "server/request/ignored_header.h"
#include "server/schema/body.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

struct CancelRequest : FieldNotes {
  std::string id;
};

const Field<CancelRequest> kFields[] = {
    {"id",
     [](CancelRequest& r) -> std::string& { return r.id; },
     {1, 256},
     "of a running request: as its answer or its x-request-id header carries it",
     Presence::kRequired},
};

std::vector<BodyDescription> describe_bodies() {
  return {one_table("CancelRequest", "which request ends", describe_fields<CancelRequest>(kFields))};
}

HttpResponse cancel_by_body(App& app, const HttpRequest& request) {
  const auto read = read_body<CancelRequest>(request.body, kFields, unknown_fields(app));
  if (!read) return error_response(read.error());
  HttpResponse response;
  if (app.running().cancel(read->id, request.caller)) {
    response.body = dump_json({{"id", read->id}, {"cancelled", true}});
  } else {
    response =
        error_response({ErrorKind::kNotFound, "id: expected the id of a running request, found none of this name"});
  }
  add_ignored_header(read->ignored, response.headers);
  return response;
}

awaitable<void> cancel(App& app, Exchange& exchange) {
  HttpResponse response = cancel_by_body(app, exchange.request());
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_cancel{
    .method = "POST",
    .path = "/v1/cancel",
    .access = Access::kKey,
    .summary = "Stops a running request",
    .handle = cancel,
    .detail =
        "The text so far is kept; its finish_reason is cancelled. An answer of another key is unknown to all but "
        "admins.",
    .bodies = describe_bodies,
    .refusals = {ErrorKind::kNotFound},
    .most_body_bytes = kSmallBodyBytes,
};

}  // namespace ferrox
