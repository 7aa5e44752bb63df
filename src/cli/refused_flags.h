// Which of llama.cpp's flags have no meaning here, and why? Named, so that nobody has to guess from a parser's message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace ferrox {

/// The error for the first argument that is such a flag and that `app` doesn't have; a value of another option and what
/// follows "--" are never one.
std::optional<Error> find_refused_flag(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace ferrox
