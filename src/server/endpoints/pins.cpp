// GET /v1/cache/pins: which prefixes are pinned?
#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/openai/endpoint_steps.h"
#include "server/pin_steps.h"

namespace ferrox {
namespace {

ApiResult<Json> list(PrefixPins* pins, const std::string& spaces) {
  if (pins == nullptr) return no_prefix_cache();
  Json json = {{"object", "list"}, {"data", Json::array()}};
  for (const PrefixPin& pin : pins->list(spaces)) json["data"].push_back(pin_json(pin));
  return json;
}

awaitable<void> handle(App& app, Exchange& exchange) {
  auto use = [spaces = cache_space(app, exchange.request(), "")](PrefixPins* pins) { return list(pins, spaces); };
  auto listed = co_await app.on_pins(std::move(use));
  HttpResponse response = listed ? json_response(*listed) : error_response(pins_stopped());
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_pins{
    .method = "GET",
    .path = "/v1/cache/pins",
    .access = Access::kKey,
    .summary = "Lists the caller's pinned prefixes",
    .handle = handle,
    .refusals = {ErrorKind::kUnsupported, ErrorKind::kDraining},
};

}  // namespace ferrox
