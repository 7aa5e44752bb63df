// What may a command line say about sampling? llama.cpp's flags, as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "engine/sampling_params.h"

namespace ferrox {

/// What the flags filled; `resolve_sampling` makes a request's parameters of it.
struct SamplingArguments {
  SamplingParams params;
  int64_t seed = -1;                      ///< -1: a random one
  std::string samplers;                   ///< names joined by ';', in order; empty: the default order
  std::vector<std::string> dry_breakers;  ///< empty: the defaults; "none": none
  std::vector<std::string> logit_biases;  ///< "id+bias" or "id-bias"
};

void add_sampling_options(CLI::App& app, SamplingArguments& arguments);

/// Errors: an unknown sampler name, a bias that isn't "id+bias". Without a seed a random one is chosen.
Result<SamplingParams> resolve_sampling(const SamplingArguments& arguments);

}  // namespace ferrox
