// Which trace is a request part of? W3C Trace Context, level 1: the headers traceparent and tracestate.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ferrox {

/// What a request's headers say; all empty: it begins a trace of its own.
struct TraceContext {
  std::string trace_id;     ///< 32 hexadecimal digits in lower case
  std::string span_id;      ///< 16: of the caller's span
  std::string trace_state;  ///< as it came
  bool is_sampled = true;   ///< whether the caller records the trace; who doesn't wants no spans of it
};

/// Of `00-<trace id>-<span id>-<flags>`. Nothing for what is malformed, and for ids of zeros alone: a request is never
/// refused for it. A later version's further fields are passed over.
std::optional<TraceContext> parse_traceparent(std::string_view header);

/// Whether a tracestate may be passed on: printable ASCII, 512 bytes at most.
bool is_trace_state(std::string_view header);

std::string new_trace_id();  ///< 32 random hexadecimal digits, not all 0
std::string new_span_id();   ///< 16

}  // namespace ferrox
