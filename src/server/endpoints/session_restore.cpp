// POST /v1/sessions/restore: brings a saved conversation back into the cache.
#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/endpoint_steps.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

awaitable<void> handle(App& app, Exchange& exchange) {
  std::string salt;
  const ApiResult<std::string> id = read_one_text(exchange.request().body, "id", &salt);
  HttpResponse response;
  if (!id) {
    response = error_response(id.error());
  } else {
    const auto restored = co_await restore_session(app, cache_space(app, exchange.request(), salt), "id", *id);
    if (restored) {
      response.body = dump_json(session_json(*restored));
    } else {
      response = error_response(restored.error());
    }
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_session_restore{
    .method = "POST",
    .path = "/v1/sessions/restore",
    .access = Access::kKey,
    .summary = "Brings a saved conversation back into the cache",
    .handle = handle,
};

}  // namespace ferrox
