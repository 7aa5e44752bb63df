// Where do log lines go? To stderr through one logger, and to a file if one is given; stdout belongs to answers.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ferrox {

/// The process's logger. Level `info` and text until another is set.
spdlog::logger& log();

/// Accepts trace, debug, info, warn, error, off; anything else is an error that lists them.
Result<void> set_log_level(const std::string& name);

enum class LogFormat {
  kText,  ///< 12:00:00.000 info message name=value
  kJson,  ///< {"time": RFC 3339 in UTC, "level", "message", values}, ASCII alone
};

/// A line is one line in either format, whatever bytes it is made of. Not while another thread logs.
void set_log_format(LogFormat format);

/// Appends every line to a file as well. kIo: it can't be opened. Not while another thread logs.
Result<void> add_log_file(const std::string& path);

/// What a line says beside its message.
struct LogField {
  std::string_view name;  ///< a literal
  std::variant<std::string, int64_t, double, bool> value;
};
using LogFields = std::vector<LogField>;

/// A line with values that programs read.
void log_fields(spdlog::level::level_enum level, std::string_view message, const LogFields& fields);

}  // namespace ferrox
