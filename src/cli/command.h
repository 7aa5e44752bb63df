// What is one subcommand? A name, a line of help and a function; one constant in src/cli/commands/<name>.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"

namespace ferrox {

/// What happens to arguments that belong to no option?
enum class Words { kRefused, kTaken };

/// `add` declares the command's options on `app` and returns what runs it once they are parsed. What the options
/// write to must live as long as the returned function.
struct Command {
  const char* name;
  const char* help;
  std::function<ExitCode()> (*add)(CLI::App& app);
  Words words = Words::kRefused;
};

/// The arguments that belong to no option of a parsed command line, as they were written.
std::vector<std::string> words_of(const CLI::App& app);

/// Every command, in name order, ended by nullptr.
extern const Command* const all_command[];

}  // namespace ferrox
