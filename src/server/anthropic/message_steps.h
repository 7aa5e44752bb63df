// What do the endpoints of Anthropic's dialect do alike? Parse and render on a worker thread.
#pragma once

#include "server/anthropic/message_request.h"
#include "server/app.h"
#include "server/http/exchange.h"

namespace ferrox {

/// The request's conversation as a prompt, or what is refused of it; as long as its client stays.
awaitable<ApiResult<PreparedMessage>> prepare_message_on_worker(App& app, Exchange& exchange, MessageUse use);

}  // namespace ferrox
