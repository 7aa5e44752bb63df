// POST /v1/sessions/restore: brings a saved conversation back into the cache.
#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/endpoint_steps.h"
#include "server/request/ignored_header.h"
#include "server/request/shared_fields.h"
#include "server/schema/describe.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

struct RestoreRequest : FieldNotes {
  std::string id;
  std::string salt;
};

const Field<RestoreRequest> kFields[] = {
    {"id", [](RestoreRequest& r) -> std::string& { return r.id; }, kSessionIdBytes, "of the saved conversation",
     Presence::kRequired},
    {"cache_salt", [](RestoreRequest& r) -> std::string& { return r.salt; }, kSaltBytes,
     "the salt of the requests that are to find it"},
};

std::vector<BodyDescription> describe_bodies() {
  return {one_table("SessionRestoreRequest", "which conversation comes back, and for whom",
                    describe_fields<RestoreRequest>(kFields))};
}

awaitable<HttpResponse> answer(App& app, const HttpRequest& request) {
  const auto read = read_body<RestoreRequest>(request.body, kFields, unknown_fields(app));
  if (!read) co_return error_response(read.error());
  const auto restored = co_await restore_session(app, cache_space(app, request, read->salt), "id", read->id);
  if (!restored) co_return error_response(restored.error());
  HttpResponse response;
  add_ignored_header(read->ignored, response.headers);
  response.body = dump_json(session_json(*restored));
  co_return response;
}

awaitable<void> handle(App& app, Exchange& exchange) {
  HttpResponse response = co_await answer(app, exchange.request());
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_session_restore{
    .method = "POST",
    .path = "/v1/sessions/restore",
    .access = Access::kKey,
    .summary = "Brings a saved conversation back into the cache",
    .handle = handle,
    .detail = "After a restart of the server as well.",
    .bodies = describe_bodies,
    .refusals = kSessionErrors,
    .most_body_bytes = kSmallBodyBytes,
};

}  // namespace ferrox
