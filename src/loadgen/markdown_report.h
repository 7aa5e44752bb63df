// How is a run told on a terminal? Two tables, and what went wrong.
#pragma once

#include <string>

#include "loadgen/report.h"

namespace ferrox {

std::string markdown_report(const LoadReport& report);

}  // namespace ferrox
