// How is a run told to programs?
#pragma once

#include <string>

#include "loadgen/report.h"

namespace ferrox {

/// One object: settings, outcomes, rates, spreads in milliseconds, and a row for each request. Absent figures have no
/// member.
std::string json_report(const LoadReport& report);

}  // namespace ferrox
