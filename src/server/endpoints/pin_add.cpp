// POST /v1/cache/pins: a prefix that is given up after all others.
#include <utility>

#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/openai/endpoint_steps.h"
#include "server/pin_steps.h"

namespace ferrox {
namespace {

constexpr int64_t kLongestS = int64_t{60} * 60 * 24 * 365;

ApiResult<Json> add(PrefixPins* pins, const CachedPrompt& prompt, int64_t ttl_s) {
  if (pins == nullptr) return no_prefix_cache();
  std::optional<PrefixPin::Time> end;
  if (ttl_s > 0) end = std::chrono::steady_clock::now() + std::chrono::seconds(ttl_s);
  const Result<PrefixPin> pin = pins->add(prompt.space, prompt.tokens, end);
  if (!pin) return invalid_request("", pin.error().message);
  return pin_json(*pin);
}

awaitable<ApiResult<Json>> answer(App& app, const HttpRequest& request) {
  const ApiResult<int64_t> ttl_s = query_number(request, "ttl", kLongestS, 0);
  if (!ttl_s) co_return ttl_s.error();
  ApiResult<CachedPrompt> prompt = co_await read_one_prompt(app, request);
  if (!prompt) co_return prompt.error();
  auto use = [prompt = std::move(*prompt), ttl_s = *ttl_s](PrefixPins* pins) { return add(pins, prompt, ttl_s); };
  auto added = co_await app.on_pins(std::move(use));
  if (!added) co_return pins_stopped();
  co_return std::move(*added);
}

awaitable<void> handle(App& app, Exchange& exchange) {
  const ApiResult<Json> json = co_await answer(app, exchange.request());
  HttpResponse response = json_response(json);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_pin_add{
    .method = "POST",
    .path = "/v1/cache/pins",
    .access = Access::kKey,
    .summary = "Pins a prompt, given as a chat or a completion: cached, it gives way after all else; ?ttl=SECONDS",
    .handle = handle,
};

}  // namespace ferrox
