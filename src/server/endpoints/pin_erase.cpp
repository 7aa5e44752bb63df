// DELETE /v1/cache/pins/{id}: a prefix is like any other again.
#include <fmt/format.h>

#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/openai/endpoint_steps.h"
#include "server/pin_steps.h"

namespace ferrox {
namespace {

awaitable<ApiResult<Json>> answer(App& app, const HttpRequest& request) {
  const std::string text = request.path_parameter;
  const std::optional<uint64_t> id = parse_pin_id(text);
  auto use = [spaces = cache_space(app, request, ""), id](PrefixPins* pins) -> ApiResult<bool> {
    if (pins == nullptr) return no_prefix_cache();
    return id && pins->remove(spaces, *id);
  };
  auto removed = co_await app.on_pins(std::move(use));
  if (!removed) co_return pins_stopped();
  if (!*removed) co_return removed->error();
  if (!**removed) {
    co_return ApiError(ErrorKind::kNotFound,
                       fmt::format("pin: expected the id of one of yours, found '{}'", text.substr(0, kShownLetters)));
  }
  co_return Json{{"id", text}, {"object", "pin"}, {"deleted", true}};
}

awaitable<void> handle(App& app, Exchange& exchange) {
  const ApiResult<Json> json = co_await answer(app, exchange.request());
  HttpResponse response = json_response(json);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_pin_erase{
    .method = "DELETE",
    .path = "/v1/cache/pins/{id}",
    .access = Access::kKey,
    .summary = "Takes a pin away",
    .handle = handle,
    .refusals = {ErrorKind::kNotFound, ErrorKind::kUnsupported, ErrorKind::kDraining},
};

}  // namespace ferrox
