// GET /livez: does the engine get on with what it has to do?
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"

namespace ferrox {
namespace {

constexpr int kRetryAfterS = 60;  ///< whoever watches this starts the server again

awaitable<void> live(App& app, Exchange& exchange) {
  const std::chrono::milliseconds silence = app.engine().status().silence;
  HttpResponse response;
  if (silence >= app.options().stall_limit) {
    response = error_response(
        unavailable(ErrorKind::kStalled,
                    fmt::format("the engine has work and did none of it for {} ms", silence.count()), kRetryAfterS));
  } else {
    response.body = dump_json({{"status", "live"}, {"silence_ms", silence.count()}});
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_livez{
    .method = "GET",
    .path = "/livez",
    .access = Access::kPublic,
    .summary = "200 while the engine gets on with its work, however slowly; 503 when it has stood still for a minute",
    .handle = live,
    .detail = "A prompt that takes long is no silence. With an engine thread that fails the process ends.",
    .refusals = {ErrorKind::kStalled},
    .is_probe = true,
};

}  // namespace ferrox
