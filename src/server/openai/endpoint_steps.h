// What do the completion endpoints do alike? Prepare on a worker thread, refuse or answer.
#pragma once

#include <functional>

#include "server/app.h"
#include "server/openai/answer.h"
#include "server/openai/generation_params.h"

namespace ferrox {

UnknownFields unknown_fields(App& app);

/// One model is loaded and serves any name, which is then listed as without effect, unless the server is strict about
/// it. Safe from any thread.
ApiResult<void> check_model(App& app, GenerationParams& params);

/// The namespace of a caller's cached prefixes: its salt, and its key where several are configured, so that nobody can
/// find out by timing what others asked.
std::string cache_space(App& app, const HttpRequest& request, std::string_view salt);

/// Whether prefixes of a namespace are of this caller's key, whatever the salt.
bool is_callers_space(App& app, const HttpRequest& request, const std::string& space);

/// Of a body of /v1/chat/completions when it has messages, else of one of /v1/completions. Safe from any thread.
ApiResult<PreparedAnswer> prepare_either(App& app, const std::string& body);

/// `prepare` runs on a worker thread and must only read.
awaitable<void> prepare_and_answer(App& app, Exchange& exchange, std::function<ApiResult<PreparedAnswer>()> prepare);

}  // namespace ferrox
