#include "base/log_line.h"

#include <spdlog/pattern_formatter.h>

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace ferrox {
namespace {

using LineJson = nlohmann::ordered_json;

thread_local const LogFields* line_fields = nullptr;

template <class Each>
void each_field(const Each& each) {
  if (line_fields == nullptr) return;
  for (const LogField& field : *line_fields) each(field);
}

/// Control characters escaped: what a file or a client spelled never steers the terminal, nor begins a line of its own.
void append_escaped(std::string_view text, spdlog::memory_buf_t& out) {
  bool after_c2 = false;  // U+0080..U+009F are C2 80..C2 9F in UTF-8
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7F || (after_c2 && byte < 0xA0);
    after_c2 = byte == 0xC2;
    if (is_control) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
}

/// Invalid UTF-8 becomes U+FFFD.
std::string dump_ascii(const LineJson& json) {
  constexpr bool kAscii = true;
  return json.dump(-1, ' ', kAscii, LineJson::error_handler_t::replace);
}

/// A word as it is, anything else in quotes.
std::string text_of(const std::string& value) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./:@-,+").find(c) != std::string_view::npos;
  };
  return !value.empty() && std::ranges::all_of(value, is_plain) ? value : dump_ascii(value);
}
std::string text_of(int64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{:.3f}", value); }
std::string text_of(bool value) { return value ? "true" : "false"; }

class MessageAndFields : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    append_escaped({message.payload.data(), message.payload.size()}, out);
    each_field([&](const LogField& field) {
      const std::string value = std::visit([](const auto& given) { return text_of(given); }, field.value);
      fmt::format_to(std::back_inserter(out), " {}={}", field.name, value);
    });
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<MessageAndFields>(); }
};

const char* level_name(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
      return "trace";
    case spdlog::level::debug:
      return "debug";
    case spdlog::level::info:
      return "info";
    case spdlog::level::warn:
      return "warn";
    default:
      return "error";
  }
}

/// RFC 3339, in UTC, to the millisecond.
std::string utc_time(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(since / 1000)), since % 1000);
}

class JsonLines : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    LineJson line;
    line["time"] = utc_time(message.time);
    line["level"] = level_name(message.level);
    line["message"] = std::string(message.payload.data(), message.payload.size());
    each_field([&](const LogField& field) {
      std::visit([&](const auto& value) { line[std::string(field.name)] = value; }, field.value);
    });
    const std::string text = dump_ascii(line) + "\n";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonLines>(); }
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_line_formatter(LogFormat format) {
  if (format == LogFormat::kJson) return std::make_unique<JsonLines>();
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<MessageAndFields>('*').set_pattern("%H:%M:%S.%e %^%l%$ %*");
  return formatter;
}

LineFields::LineFields(const LogFields& fields) { line_fields = &fields; }
LineFields::~LineFields() { line_fields = nullptr; }

}  // namespace ferrox
