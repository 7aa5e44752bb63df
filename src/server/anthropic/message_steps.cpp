// How do the endpoints of Anthropic's dialect go from a body to a prompt?
#include "server/anthropic/message_steps.h"

#include <functional>
#include <utility>

#include "server/client_work.h"
#include "server/openai/endpoint_steps.h"

namespace ferrox {

/// No coroutine: the frame of one would hold the lambda, which has no linkage.
awaitable<ApiResult<PreparedMessage>> prepare_message_on_worker(App& app, Exchange& exchange, MessageUse use) {
  std::function<ApiResult<PreparedMessage>()> work = [&app, &body = exchange.request().body,
                                                      use]() -> ApiResult<PreparedMessage> {
    TRY_ASSIGN(MessageRequest message, parse_message(body, use, unknown_fields(app)));
    TRY(check_model(app, message));
    return prepare_message(std::move(message), app.engine());
  };
  return work_for_client(app, exchange, std::move(work));
}

}  // namespace ferrox
