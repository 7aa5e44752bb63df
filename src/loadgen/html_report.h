// How is a run told to somebody who looks at it? One page that needs nothing from anywhere else.
#pragma once

#include <string>

#include "loadgen/report.h"

namespace ferrox {

/// Tables, distributions of the first token and of the gaps between tokens, a timeline. No script, no outside resource;
/// light or dark as the reader's system is.
std::string html_report(const LoadReport& report);

}  // namespace ferrox
