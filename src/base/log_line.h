// How is a log line written? As text for people, or as one JSON object for programs.
#pragma once

#include <spdlog/formatter.h>

#include <memory>

#include "base/log.h"

namespace ferrox {

std::unique_ptr<spdlog::formatter> make_line_formatter(LogFormat format);

/// The values of the lines that this thread logs while this lives: spdlog formats on the thread that logs.
class LineFields {
 public:
  /// `fields` outlive this.
  explicit LineFields(const LogFields& fields);
  ~LineFields();
  LineFields(const LineFields&) = delete;
  LineFields& operator=(const LineFields&) = delete;
};

}  // namespace ferrox
