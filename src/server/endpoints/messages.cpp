// POST /v1/messages: what does the assistant say next, in Anthropic's dialect?
#include <memory>
#include <utility>

#include "server/answer/answer.h"
#include "server/anthropic/message_fields.h"
#include "server/anthropic/message_steps.h"
#include "server/anthropic/message_writer.h"
#include "server/dialect.h"
#include "server/endpoint.h"

namespace ferrox {
namespace {

awaitable<void> message(App& app, Exchange& exchange) {
  const HttpRequest& asked = exchange.request();
  ApiResult<PreparedMessage> prepared = co_await prepare_message_on_worker(app, exchange, MessageUse::kAnswer);
  if (!prepared) {
    HttpResponse refused = refusal(asked, prepared.error());
    co_await exchange.respond(std::move(refused));
    co_return;
  }
  AnswerJob job;
  job.headers = std::move(prepared->headers);
  job.delivery = prepared->stream ? Delivery::kStreamed : Delivery::kWhole;
  job.is_repeatable = prepared->is_repeatable;
  job.requests.push_back(std::move(prepared->request));
  std::unique_ptr<AnswerWriter> writer = std::make_unique<MessageWriter>(app.engine().model_id(), asked.id);
  co_await answer(app, exchange, std::move(job), std::move(writer));
}

}  // namespace

extern const Endpoint endpoint_messages{
    .method = "POST",
    .path = "/v1/messages",
    .access = Access::kKey,
    .summary = "Answers a conversation as Anthropic's API does, whole or streamed",
    .handle = message,
    .bodies = [] { return std::vector{describe_message(MessageUse::kAnswer)}; },
    .answer = AnswerKind::kJsonOrEvents,
    .refusals = kAnswerErrors,
    .is_metered = true,
    .runs_model = true,
    .operation = "chat",
};

}  // namespace ferrox
