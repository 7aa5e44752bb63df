// How do the completion endpoints go from a body to an answer?
#include "server/openai/endpoint_steps.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "server/json_text.h"
#include "server/openai/chat_request.h"
#include "server/openai/completion_request.h"

namespace ferrox {

UnknownFields unknown_fields(App& app) {
  return app.options().strict_fields ? UnknownFields::kRefused : UnknownFields::kListed;
}

ApiResult<void> check_model(App& app, GenerationParams& params) {
  const std::string& loaded = app.engine().model_id();
  if (params.model == loaded) return {};
  if (app.options().strict_model) return unknown_model(params.model, loaded);
  if (!params.model.empty()) params.ignored.emplace_back("model");
  return {};
}

std::string cache_space(App& app, const HttpRequest& request, std::string_view salt) {
  // A salt begins with a line end, so that it is no key's even for prefixes on disk from when there were several.
  const bool is_shared = app.keys().size() < 2 || request.caller == nullptr;
  std::string space = is_shared ? "" : request.caller->name;
  if (is_shared && salt.empty()) return space;
  space += '\n';  // no name holds one
  return space.append(salt);
}

bool is_callers_space(App& app, const HttpRequest& request, const std::string& space) {
  return space.starts_with(cache_space(app, request, ""));
}

ApiResult<void> check_rights(const ApiKey* key, const GenerationRequest& request) {
  if (key == nullptr || request.priority >= key->priority) return {};
  return forbidden(fmt::format("priority: expected a number from {} to {} with the key of '{}', found {}",
                               key->priority, kLastPriority, key->name, request.priority));
}

ApiResult<PreparedAnswer> prepare_either(App& app, const std::string& body) {
  const auto json = parse_json(body);
  if (json && json->is_object() && json->contains("messages")) {
    TRY_ASSIGN(auto parsed, parse_chat(body, unknown_fields(app)));
    TRY(check_model(app, parsed.request));
    return prepare_chat(parsed, app.engine());
  }
  TRY_ASSIGN(auto parsed, parse_completion(body, unknown_fields(app)));
  TRY(check_model(app, parsed.request));
  return prepare_completion(parsed, app.engine().tokenizer());
}

/// No coroutine: the frame of one would hold the lambda, which has no linkage.
static awaitable<ApiResult<PreparedAnswer>> prepare_on_worker(App& app, const std::string& body) {
  return app.on_worker([&app, &body] { return prepare_either(app, body); });
}

awaitable<ApiResult<CachedPrompt>> read_one_prompt(App& app, const HttpRequest& request) {
  const ApiResult<PreparedAnswer> prepared = co_await prepare_on_worker(app, request.body);
  if (!prepared) co_return prepared.error();
  if (prepared->requests.size() != 1) {
    co_return invalid_request("", fmt::format("expected one conversation, found {}", prepared->requests.size()));
  }
  const GenerationRequest& one = prepared->requests.front();
  if (const auto valid = app.engine().ask_admission(one.prompt, 1); !valid) co_return app.submit_refusal(valid.error());
  co_return CachedPrompt{cache_space(app, request, one.cache_space), one.prompt};
}

ApiResult<int64_t> query_number(const HttpRequest& request, std::string_view name, int64_t most, int64_t absent) {
  const std::string_view query = request.query;
  if (query.empty()) return absent;
  int64_t number = -1;
  if (query.starts_with(name) && query.substr(name.size()).starts_with('=')) {
    const std::string_view digits = query.substr(name.size() + 1);
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || rest != digits.data() + digits.size()) number = -1;
  }
  if (number >= 0 && number <= most) return number;
  return invalid_request(std::string(name),
                         fmt::format("{}: expected {}=N with N from 0 to {}, found '{}'", name, name, most, query));
}

/// Says whose the requests are, where the caller may ask for them.
static ApiResult<void> sign(App& app, const HttpRequest& http, PreparedAnswer& prepared) {
  for (GenerationRequest& request : prepared.requests) {
    TRY(check_rights(http.caller, request));
    request.cache_space = cache_space(app, http, request.cache_space);
    if (http.caller != nullptr) request.caller = {http.caller->name, http.caller->weight};
  }
  return {};
}

awaitable<void> prepare_and_answer(App& app, Exchange& exchange, std::function<ApiResult<PreparedAnswer>()> prepare) {
  if (const auto refused = app.quota_refusal(exchange.request().caller, 1)) {
    HttpResponse refusal = error_response(*refused);
    co_await exchange.respond(std::move(refusal));
    co_return;
  }
  ApiResult<PreparedAnswer> prepared = co_await app.on_worker(std::move(prepare));
  if (!prepared) {
    HttpResponse refusal = error_response(prepared.error());
    co_await exchange.respond(std::move(refusal));
    co_return;
  }
  PreparedAnswer ready = std::move(*prepared);
  if (const auto signed_ = sign(app, exchange.request(), ready); !signed_) {
    HttpResponse refusal = error_response(signed_.error());
    co_await exchange.respond(std::move(refusal));
    co_return;
  }
  co_await answer(app, exchange, std::move(ready));
}

}  // namespace ferrox
