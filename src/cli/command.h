// What is one subcommand? A name, a line of help and two functions; one constant in src/cli/commands/<name>.cpp.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace ferrox {

/// `add` declares the command's options on `app` and returns what runs it: a function that gives the exit code.
struct Command {
  const char* name;
  const char* help;
  std::function<int()> (*add)(CLI::App& app);
};

/// Every command, in name order, ended by nullptr.
extern const Command* const all_command[];

}  // namespace ferrox
