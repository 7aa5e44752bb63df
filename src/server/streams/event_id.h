// What names a stream, and a place in it? What clients send back as Last-Event-ID.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/api_error.h"

namespace ferrox {

/// 128 bits that nobody can guess, as 32 hexadecimal digits.
std::string new_stream_id();

/// An event of a stream: "<stream>:<number>", as `id` of a server-sent event.
struct EventId {
  std::string stream;
  uint64_t number = 0;  ///< 0: before the first
};

std::string to_text(const EventId& id);

/// The value of the header Last-Event-ID. 400: anything else than what to_text writes.
ApiResult<EventId> parse_event_id(std::string_view text);

}  // namespace ferrox
