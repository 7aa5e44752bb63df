// Where do log lines go? To stderr through one logger; stdout belongs to answers.
#pragma once

#include <spdlog/spdlog.h>

#include "base/result.h"

namespace ferrox {

/// The process's logger. Level `info` until set_log_level is called.
spdlog::logger& log();

/// Accepts trace, debug, info, warn, error, off; anything else is an error that lists them.
Result<void> set_log_level(const std::string& name);

}  // namespace ferrox
