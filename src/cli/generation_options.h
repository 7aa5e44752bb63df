// What may a command line say about one answer? Its length, its end and its sampling.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/sampling_options.h"
#include "engine/request.h"

namespace ferrox {

struct GenerationArguments {
  int64_t max_tokens = -1;
  bool ignore_eos = false;
  std::vector<std::string> stop;
  SamplingArguments sampling;
};

void add_generation_options(CLI::App& app, GenerationArguments& arguments);

/// A request without a prompt. Errors: as resolve_sampling; an empty stop string.
Result<GenerationRequest> resolve_generation(const GenerationArguments& arguments);

}  // namespace ferrox
