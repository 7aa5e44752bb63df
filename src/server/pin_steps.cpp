#include "server/pin_steps.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace ferrox {
namespace {

constexpr std::string_view kPrefix = "pin-";

}  // namespace

Json pin_json(const PrefixPin& pin) {
  Json json = {{"id", std::string(kPrefix) + std::to_string(pin.id)},
               {"object", "pin"},
               {"tokens", pin.tokens.size()},
               {"cached_tokens", pin.n_cached},
               {"expires_in", nullptr}};
  if (!pin.end) return json;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*pin.end - std::chrono::steady_clock::now());
  json["expires_in"] = std::max<int64_t>(0, left.count());
  return json;
}

std::optional<uint64_t> parse_pin_id(const std::string& text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  uint64_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + kPrefix.size(), end, id);
  if (error != std::errc() || rest != end || text[kPrefix.size()] == '0') return std::nullopt;
  return id;
}

ApiError no_prefix_cache() { return unsupported("", "pins: expected a server with a prefix cache, found none"); }

ApiError pins_stopped() {
  constexpr int kRetryAfterS = 1;
  return unavailable(ErrorKind::kDraining, "the server is shutting down", kRetryAfterS);
}

}  // namespace ferrox
