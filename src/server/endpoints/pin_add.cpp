// POST /v1/cache/pins: a prefix that is given up after all others.
#include <utility>

#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/openai/endpoint_steps.h"
#include "server/pin_steps.h"
#include "server/schema/describe.h"
#include "server/schema/query.h"

namespace ferrox {
namespace {

constexpr int64_t kYearS = int64_t{60} * 60 * 24 * 365;

struct PinQuery {
  int64_t ttl_s = 0;
};

const Field<PinQuery> kQuery[] = {
    {"ttl",
     [](PinQuery& q) -> int64_t& { return q.ttl_s; },
     {0, kYearS},
     "seconds until the pin ends; 0: it stays until it is removed"},
};

std::vector<FieldDescription> describe_query() { return describe_fields<PinQuery>(kQuery); }

ApiResult<Json> add(PrefixPins* pins, const CachedPrompt& prompt, const std::string& spaces, int64_t ttl_s) {
  if (pins == nullptr) return no_prefix_cache();
  std::optional<PrefixPin::Time> end;
  if (ttl_s > 0) end = std::chrono::steady_clock::now() + std::chrono::seconds(ttl_s);
  const Result<PrefixPin> pin = pins->add(prompt.space, prompt.tokens, end, spaces);
  if (!pin) return invalid_request("", pin.error().message);
  return pin_json(*pin);
}

awaitable<HttpResponse> answer(App& app, Exchange& exchange) {
  const ApiResult<PinQuery> query = read_query<PinQuery>(exchange.request().query, kQuery);
  if (!query) co_return error_response(query.error());
  ApiResult<CachedPrompt> prompt = co_await read_one_prompt(app, exchange);
  if (!prompt) co_return error_response(prompt.error());
  std::vector<HttpHeader> headers = std::move(prompt->headers);
  auto use = [prompt = std::move(*prompt), spaces = cache_space(app, exchange.request(), ""),
              ttl_s = query->ttl_s](PrefixPins* pins) { return add(pins, prompt, spaces, ttl_s); };
  auto added = co_await app.on_pins(std::move(use));
  if (!added) co_return error_response(pins_stopped());
  co_return json_response(*added, std::move(headers));
}

awaitable<void> handle(App& app, Exchange& exchange) {
  HttpResponse response = co_await answer(app, exchange);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_pin_add{
    .method = "POST",
    .path = "/v1/cache/pins",
    .access = Access::kKey,
    .summary = "Pins a prompt, given as a chat or a completion: cached, it gives way after all else",
    .handle = handle,
    .detail =
        "Cached now or later, its whole pages give way after all others. Gives id, tokens, cached_tokens (what a "
        "longer prompt goes on behind now) and expires_in. At most 64 of each key; they end with the process.",
    .bodies = describe_either,
    .query = describe_query,
    .refusals = kPromptErrors,
    .is_metered = true,
};

}  // namespace ferrox
