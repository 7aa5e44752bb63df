#include "server/streams/event_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

#include "base/hex.h"

namespace ferrox {
namespace {

constexpr size_t kIdBytes = 16;

/// What a header may show of itself in a message.
std::string shown_id(std::string_view text) {
  std::string shown(text.substr(0, kShownLetters));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

}  // namespace

std::string new_stream_id() {
  static thread_local std::random_device source;  // the system's generator, not a seeded one
  std::array<uint8_t, kIdBytes> bytes;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(source());
  return hex_of(bytes);
}

std::string to_text(const EventId& id) { return fmt::format("{}:{}", id.stream, id.number); }

ApiResult<EventId> parse_event_id(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view digits = text.substr(std::min(colon + 1, text.size()));
  EventId id{std::string(text.substr(0, colon)), 0};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id.number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (is_number && parse_hex<kIdBytes>(id.stream)) return id;
  return invalid_request("last-event-id",
                         fmt::format("last-event-id: expected the id of an event of this server, 32 hexadecimal digits "
                                     "and its number behind a colon, found '{}'",
                                     shown_id(text)));
}

}  // namespace ferrox
