// How do the completion endpoints go from a body to an answer?
#include "server/openai/endpoint_steps.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "server/answer/answer.h"
#include "server/caller.h"
#include "server/client_work.h"
#include "server/json_text.h"
#include "server/openai/answer_builder.h"
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

std::vector<BodyDescription> describe_either() { return {describe_chat(), describe_completion()}; }

/// No coroutine: the frame of one would hold the lambda, which has no linkage.
awaitable<ApiResult<PreparedAnswer>> prepare_either_on_worker(App& app, Exchange& exchange) {
  std::function<ApiResult<PreparedAnswer>()> work = [&app, &body = exchange.request().body] {
    return prepare_either(app, body);
  };
  return work_for_client(app, exchange, std::move(work));
}

awaitable<ApiResult<CachedPrompt>> read_one_prompt(App& app, Exchange& exchange) {
  const ApiResult<PreparedAnswer> prepared = co_await prepare_either_on_worker(app, exchange);
  exchange.request().drop_body();
  if (!prepared) co_return prepared.error();
  if (prepared->requests.size() != 1) {
    co_return invalid_request("", fmt::format("expected one conversation, found {}", prepared->requests.size()));
  }
  const GenerationRequest& one = prepared->requests.front();
  if (const auto valid = app.engine().ask_admission(one.prompt, 1); !valid) co_return app.submit_refusal(valid.error());
  co_return CachedPrompt{cache_space(app, exchange.request(), one.cache_space), one.prompt, prepared->headers};
}

awaitable<void> prepare_and_answer(App& app, Exchange& exchange, std::function<ApiResult<PreparedAnswer>()> prepare) {
  ApiResult<PreparedAnswer> prepared = co_await work_for_client(app, exchange, std::move(prepare));
  if (!prepared) {
    HttpResponse refused = error_response(prepared.error());
    co_await exchange.respond(std::move(refused));
    co_return;
  }
  PreparedAnswer ready = std::move(*prepared);
  AnswerJob job{std::move(ready.requests), ready.headers, ready.stream ? Delivery::kStreamed : Delivery::kWhole,
                ready.is_repeatable};
  std::unique_ptr<AnswerWriter> writer = std::make_unique<AnswerBuilder>(
      std::move(ready), app.engine().tokenizer(), app.engine().model_id(), exchange.request().id);
  co_await answer(app, exchange, std::move(job), std::move(writer));
}

}  // namespace ferrox
