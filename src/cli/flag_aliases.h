// Which flags of several letters after one dash are understood? llama.cpp's, as names of the long ones.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace ferrox {

/// Rewrites aliases that `app` has the long flag of ("-np 4" to "--parallel 4") and names them in its help.
/// What follows "--" is left alone.
std::vector<std::string> expand_flag_aliases(CLI::App& app, std::vector<std::string> arguments);

}  // namespace ferrox
