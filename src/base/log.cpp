#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace ferrox {

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("ferrox", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%H:%M:%S.%e %^%l%$ %v");
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
