// Which load does a bench-serve command line ask for?
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "loadgen/figures.h"
#include "loadgen/load.h"
#include "loadgen/scenario.h"

namespace ferrox {

/// As they are written; `resolve_load_test` reads them.
struct LoadTestArguments {
  std::string url = "http://127.0.0.1:8383";
  std::string api_key;
  std::string model;
  std::string endpoint = "chat";
  bool ignore_eos = false;
  TlsTrust tls;
  bool closes_connections = false;
  double timeout_s = 600;
  std::string scenario = "distinct";
  std::string prompt_tokens = "256";
  std::string long_tokens = "2048";
  ScenarioOptions shape;  ///< numbers of the scenario
  size_t n_warmup = 1;
  size_t concurrency = 8;
  std::optional<double> rate;
  std::string arrival = "poisson";
  ServiceLevel level;
};

struct LoadTest {
  LoadOptions load;
  ScenarioOptions scenario;
};

/// Declares the options on `app`; `arguments` outlives it.
void add_load_test_options(CLI::App& app, LoadTestArguments& arguments);

/// kInvalidArgument: a value that can't be read, or an option that does nothing in this scenario.
Result<LoadTest> resolve_load_test(const CLI::App& app, const LoadTestArguments& arguments);

/// The same load in small: `arguments.n_warmup` prompts of their own, so that nothing is cached of those that count.
LoadTest warmup_of(const LoadTest& test, const LoadTestArguments& arguments);

}  // namespace ferrox
