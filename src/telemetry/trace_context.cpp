#include "telemetry/trace_context.h"

#include <algorithm>
#include <array>
#include <random>

#include "base/hex.h"

namespace ferrox {
namespace {

constexpr size_t kTraceDigits = 32;
constexpr size_t kSpanDigits = 16;
constexpr size_t kParentLength = 2 + 1 + kTraceDigits + 1 + kSpanDigits + 1 + 2;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return hex_digit(c) >= 0; });
}

bool is_id(std::string_view text) {
  return is_hex(text) && std::ranges::any_of(text, [](char c) { return c != '0'; });
}

template <size_t n_bytes>
std::string random_id() {
  static thread_local std::mt19937_64 source{std::random_device{}()};
  std::array<uint8_t, n_bytes> bytes{};
  while (std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; })) {
    std::ranges::generate(bytes, [] { return static_cast<uint8_t>(source()); });
  }
  return hex_of(bytes);
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view header) {
  if (header.size() < kParentLength) return std::nullopt;
  const std::string_view version = header.substr(0, 2);
  if (!is_hex(version) || version == "ff") return std::nullopt;
  if (header.size() > kParentLength && (version == "00" || header[kParentLength] != '-')) return std::nullopt;
  const std::string_view trace_id = header.substr(3, kTraceDigits);
  const std::string_view span_id = header.substr(3 + kTraceDigits + 1, kSpanDigits);
  const std::string_view flags = header.substr(kParentLength - 2, 2);
  const bool has_dashes = header[2] == '-' && header[3 + kTraceDigits] == '-' && header[kParentLength - 3] == '-';
  if (!has_dashes || !is_id(trace_id) || !is_id(span_id) || !is_hex(flags)) return std::nullopt;
  return TraceContext{std::string(trace_id), std::string(span_id), "", (hex_digit(flags[1]) & 1) == 1};
}

bool is_trace_state(std::string_view header) {
  constexpr size_t kMostBytes = 512;
  return header.size() <= kMostBytes && std::ranges::all_of(header, [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string new_trace_id() { return random_id<kTraceDigits / 2>(); }
std::string new_span_id() { return random_id<kSpanDigits / 2>(); }

}  // namespace ferrox
