// What do the completion endpoints do alike? Prepare on a worker thread, refuse or answer.
#pragma once

#include <functional>

#include "server/app.h"
#include "server/http/exchange.h"
#include "server/openai/prepared_answer.h"
#include "server/request/generation_params.h"
#include "server/schema/description.h"

namespace ferrox {

UnknownFields unknown_fields(App& app);

/// One model is loaded and serves any name, which is then listed as without effect, unless the server is strict about
/// it. Safe from any thread.
ApiResult<void> check_model(App& app, GenerationParams& params);

/// Of a body of /v1/chat/completions when it has messages, else of one of /v1/completions. Safe from any thread.
ApiResult<PreparedAnswer> prepare_either(App& app, const std::string& body);

/// The bodies that prepare_either takes.
std::vector<BodyDescription> describe_either();

/// A prompt, and the namespace of its cached prefixes.
struct CachedPrompt {
  std::string space;
  std::vector<int32_t> tokens;
  std::vector<HttpHeader> headers;  ///< what of the body was ignored or adapted
};

/// prepare_either on a worker, as long as its client stays.
awaitable<ApiResult<PreparedAnswer>> prepare_either_on_worker(App& app, Exchange& exchange);

/// The one prompt that a body (as prepare_either's) asks about. Refused as a request with it would be. The body is let
/// go.
awaitable<ApiResult<CachedPrompt>> read_one_prompt(App& app, Exchange& exchange);

/// `prepare` runs on a worker thread and must only read.
awaitable<void> prepare_and_answer(App& app, Exchange& exchange, std::function<ApiResult<PreparedAnswer>()> prepare);

}  // namespace ferrox
