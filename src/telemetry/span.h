// What is one span? A piece of work with a beginning and an end, and its place in a trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ferrox {

struct SpanAttribute {
  std::string name;
  std::variant<std::string, int64_t, double, bool, std::vector<std::string>> value;
};

/// OpenTelemetry's numbers.
enum class SpanKind { kInternal = 1, kServer = 2 };

struct Span {
  std::string trace_id;   ///< 32 hexadecimal digits in lower case
  std::string span_id;    ///< 16
  std::string parent_id;  ///< 16, or empty: it begins the trace
  std::string trace_state;
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  std::chrono::nanoseconds start{};  ///< since 1970, UTC
  std::chrono::nanoseconds end{};
  std::vector<SpanAttribute> attributes;
  bool is_error = false;
};

}  // namespace ferrox
