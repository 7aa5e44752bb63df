// DELETE /v1/sessions/{id}: forgets a saved conversation.
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

HttpResponse erase(App& app, const std::string& text) {
  const ApiResult<Sessions*> sessions = sessions_of(app);
  if (!sessions) return error_response(sessions.error());
  const Result<SessionId> id = parse_session_id(text);
  if (!id) return error_response(invalid_request("id", "id: " + id.error().message));
  if (const auto erased = (*sessions)->erase(*id); !erased) return error_response(session_refusal(erased.error()));
  HttpResponse response;
  response.body = dump_json({{"id", text}, {"object", "session"}, {"deleted", true}});
  return response;
}

awaitable<void> handle(App& app, Exchange& exchange) {
  HttpResponse response =
      co_await app.on_disk([&app, &id = exchange.request().path_parameter] { return erase(app, id); });
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_session_erase{
    .method = "DELETE",
    .path = "/v1/sessions/{id}",
    .access = Access::kKey,
    .summary = "Forgets a saved conversation",
    .handle = handle,
    .refusals = kSessionErrors,
    .opens_by_path = true,
};

}  // namespace ferrox
