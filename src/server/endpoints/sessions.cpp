// GET /v1/sessions: which conversations are saved, and which files count against the budget beside them?
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

HttpResponse list(App& app) {
  const ApiResult<Sessions*> sessions = sessions_of(app);
  if (!sessions) return error_response(sessions.error());
  Json json = {{"object", "list"}, {"data", Json::array()}};
  for (const SessionSummary& session : (*sessions)->list()) json["data"].push_back(listed_session_json(session));
  HttpResponse response;
  response.body = dump_json(json);
  return response;
}

awaitable<void> handle(App& app, Exchange& exchange) {
  const ApiKey* const caller = exchange.request().caller;
  HttpResponse response;
  if (app.keys().size() > 1 && !caller->is_admin) {
    response = error_response(forbidden("sessions: an id opens a conversation; expected the key of an admin"));
  } else {
    response = co_await app.on_disk([&app] { return list(app); });
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_sessions{
    .method = "GET",
    .path = "/v1/sessions",
    .access = Access::kKey,
    .summary = "Lists saved conversations, newest first, those of other models and damaged ones as well",
    .handle = handle,
    .detail =
        "Every file that counts against --kv-disk-bytes, with its state. Where there are several keys only "
        "admins see it: an id opens a conversation.",
    .refusals = {ErrorKind::kUnsupported},
};

}  // namespace ferrox
