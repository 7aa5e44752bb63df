#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <iterator>
#include <memory>

namespace ferrox {
namespace {

/// The message with control characters escaped: what a file or a client spelled never steers the terminal, nor begins a
/// line of its own.
class EscapedMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    bool after_c2 = false;  // U+0080..U+009F are C2 80..C2 9F in UTF-8
    for (const char c : message.payload) {
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
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<EscapedMessage>(); }
};

std::unique_ptr<spdlog::formatter> line_formatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<EscapedMessage>('*').set_pattern("%H:%M:%S.%e %^%l%$ %*");
  return formatter;
}

}  // namespace

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("ferrox", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_formatter(line_formatter());
    return made;
  }();
  return *logger;
}

Result<void> set_log_level(const std::string& name) {
  const auto level = spdlog::level::from_str(name == "warn" ? "warning" : name);
  if (level == spdlog::level::off && name != "off") {
    return make_error(ErrorCode::kInvalidArgument,
                      "log level: expected trace, debug, info, warn, error or off, found '{}'", name);
  }
  log().set_level(level);
  return {};
}

}  // namespace ferrox
