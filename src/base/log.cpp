#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>

#include "base/log_line.h"

namespace ferrox {
namespace {

LogFormat log_format = LogFormat::kText;

}  // namespace

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("ferrox", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_formatter(make_line_formatter(log_format));
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

void set_log_format(LogFormat format) {
  log_format = format;
  log().set_formatter(make_line_formatter(format));
}

Result<void> add_log_file(const std::string& path) {
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    file->set_formatter(make_line_formatter(log_format));
    log().sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex& error) {
    return make_error(ErrorCode::kIo, "log file: {}", error.what());
  }
  log().flush_on(spdlog::level::trace);  // each line as it is written: a crash loses none
  return {};
}

void log_fields(spdlog::level::level_enum level, std::string_view message, const LogFields& fields) {
  const LineFields of_line(fields);
  log().log(level, spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace ferrox
