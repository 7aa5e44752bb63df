// GET /slots: what does each slot run, or what did it run last?
#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"
#include "server/openai/endpoint_steps.h"

namespace ferrox {
namespace {

awaitable<void> handle(App& app, Exchange& exchange) {
  const auto slots = co_await app.on_waiter([&app] { return app.slots(); });
  Json json = Json::array();
  for (size_t i = 0; i < slots.size(); ++i) {
    json.push_back({{"id", i}, {"n_ctx", app.engine().context_length()}, {"is_processing", slots[i].is_busy}});
    const bool is_callers = is_callers_space(app, exchange.request(), slots[i].space);
    json.back()["n_tokens"] = is_callers ? slots[i].tokens.size() : 0;
  }
  HttpResponse response;
  response.body = dump_json(json);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_slots{
    .method = "GET",
    .path = "/slots",
    .access = Access::kKey,
    .summary = "Lists the slots in which requests run",
    .handle = handle,
};

}  // namespace ferrox
