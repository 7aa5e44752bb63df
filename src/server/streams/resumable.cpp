#include "server/streams/resumable.h"

#include <fmt/format.h>

namespace ferrox {
namespace {

constexpr const char* kResumable = "x-ferrox-resumable";

}  // namespace

ApiResult<bool> asks_resumable(App& app, const HttpRequest& request, Delivery delivery) {
  const std::string_view asked = request.header(kResumable);
  if (asked.empty() || equal_ignoring_case(asked, "false")) return false;
  if (!equal_ignoring_case(asked, "true")) {
    return invalid_request(kResumable, fmt::format("{}: expected true or false, found something else", kResumable));
  }
  if (delivery != Delivery::kStreamed) {
    return invalid_request(kResumable,
                           fmt::format("{}: expected it beside \"stream\": true, found a whole answer", kResumable));
  }
  const int64_t most = app.streams().options().most_streams;
  if (most == 0) {
    return unsupported(kResumable, fmt::format("{}: expected a server that keeps streams, found one with "
                                               "--resumable-streams 0",
                                               kResumable));
  }
  if (app.draining() || app.streams().make_room()) return true;  // who drains says so itself
  return unavailable(
      ErrorKind::kStreamsBusy,
      fmt::format("{}: expected fewer than {} streams that can be taken up, found as many", kResumable, most),
      app.retry_after_s());
}

}  // namespace ferrox
