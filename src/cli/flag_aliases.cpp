#include "cli/flag_aliases.h"

#include <fmt/format.h>

namespace ferrox {
namespace {

struct FlagAlias {
  const char* alias;
  const char* flag;
};

// CLI11 reads -np as -n with the value "p", so these are rewritten before it sees them.
constexpr FlagAlias kFlagAliases[] = {
    {"-np", "--parallel"},      {"-sys", "--system-prompt"}, {"-ctk", "--cache-type-k"},
    {"-ctv", "--cache-type-v"}, {"-ub", "--ubatch-size"},    {"-no-cnv", "--no-cnv"},
    {"-to", "--timeout"},       {"-pg", "--prompt-gen"},     {"-npl", "--n-parallel"},
};

}  // namespace

std::vector<std::string> expand_flag_aliases(CLI::App& app, std::vector<std::string> arguments) {
  for (const auto& [alias, flag] : kFlagAliases) {
    CLI::Option* option = app.get_option_no_throw(flag);
    if (option == nullptr) continue;
    option->description(option->get_description() + fmt::format(" (also {})", alias));
    for (auto& argument : arguments) {
      if (argument == "--") break;
      if (argument == alias) argument = flag;
    }
  }
  return arguments;
}

}  // namespace ferrox
