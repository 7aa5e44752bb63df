// What is shown of a run? The settings, the figures and the records that they come from.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

#include "loadgen/figures.h"
#include "loadgen/load.h"
#include "loadgen/record.h"
#include "loadgen/scenario.h"

namespace ferrox {

using ReportJson = nlohmann::ordered_json;

struct LoadReport {
  ReportJson settings;  ///< an object of numbers and strings, enough to run it again; the key isn't among them
  ServiceLevel level;
  std::vector<RequestRecord> records;
  Figures figures;
  bool was_interrupted = false;
};

/// Puts together what `run_load` gave.
LoadReport make_report(const LoadOptions& options, const ScenarioOptions& scenario, const ServiceLevel& level,
                       LoadResult result);

/// "distinct: 32 requests to http://127.0.0.1:8383, 8 at once".
std::string report_title(const LoadReport& report);

/// Names and values of all that isn't a spread of times, for people: "output tokens", "4096 (812.4/s)".
std::vector<std::pair<std::string, std::string>> summary_rows(const LoadReport& report);

/// A spread of times, in milliseconds.
struct SpreadRow {
  const char* name;  ///< for people
  const char* key;   ///< for programs
  const Spread* spread;

  /// Mean, p50, p90, p95, p99, max and the number of samples, for people; "-" for what no sample tells.
  std::vector<std::string> cells() const;
};

std::vector<SpreadRow> spread_rows(const Figures& figures);

/// "12.3", "0.0451", "1234": milliseconds with three significant digits and no exponent.
std::string format_ms(double ms);

}  // namespace ferrox
