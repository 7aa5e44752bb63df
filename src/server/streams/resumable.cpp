#include "server/streams/resumable.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

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
  if (app.draining()) return true;  // who drains says so itself
  const std::optional<int64_t> wait_s =
      app.streams().wait_for_room(request.caller, app.answer_s(), std::chrono::steady_clock::now());
  if (!wait_s) return true;
  return unavailable(
      ErrorKind::kStreamsBusy,
      fmt::format("{}: expected a place among the {} streams that can be taken up, found none", kResumable, most),
      static_cast<int>(*wait_s));
}

}  // namespace ferrox
