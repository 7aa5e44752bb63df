#include "cli/main.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/version.h"
#include "cli/command.h"
#include "cli/flag_aliases.h"
#include "cli/nearest_name.h"
#include "cli/output.h"
#include "cli/refused_flags.h"

namespace ferrox {
namespace {

std::string overview() {
  std::string text = fmt::format("ferrox {}: runs language models in GGUF files on this machine's CPU\n\n", kVersion);
  text += "usage: ferrox COMMAND [options]     ferrox COMMAND --help tells a command's options\n\n";
  for (auto command = all_command; *command != nullptr; ++command) {
    text += fmt::format("  {:<11} {}\n", (*command)->name, (*command)->help);
  }
  return text + "\nexit codes: 0 success, 1 the work failed, 2 the command line was wrong, 130 interrupted\n";
}

const Command* find_command(std::string_view name) {
  for (auto command = all_command; *command != nullptr; ++command) {
    if (name == (*command)->name) return *command;
  }
  return nullptr;
}

ExitCode unknown_command(const std::string& name) {
  std::vector<std::string> known;
  for (auto command = all_command; *command != nullptr; ++command) known.emplace_back((*command)->name);
  const auto nearest = nearest_name(name, known);
  const std::string hint = nearest ? fmt::format("did you mean '{}'?", *nearest) : "'ferrox --help' lists them";
  return report_usage(make_error(ErrorCode::kInvalidArgument, "unknown command '{}'; {}", name, hint));
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

ExitCode unexpected_argument(const CLI::App& app, const std::string& argument) {
  if (argument.empty() || argument[0] != '-') {
    return report_usage(make_error(ErrorCode::kInvalidArgument, "unexpected argument '{}'", argument));
  }
  const auto nearest = nearest_name(argument.substr(0, argument.find('=')), flag_names(app));
  const std::string hint =
      nearest ? fmt::format("did you mean {}?", *nearest) : fmt::format("'{} --help' lists them", app.get_name());
  return report_usage(make_error(ErrorCode::kInvalidArgument, "unknown flag {}; {}", argument, hint));
}

/// Of what no option took: a flag, or a word where words aren't taken. After "--" nothing is a flag.
std::optional<std::string> unexpected_of(const CLI::App& app, Words words) {
  const auto extras = app.remaining();
  const auto flags_end = std::find(extras.begin(), extras.end(), "--");
  const auto is_unexpected = [words](const std::string& extra) {
    return words == Words::kRefused || (extra.size() > 1 && extra[0] == '-');
  };
  const auto found = std::find_if(extras.begin(), flags_end, is_unexpected);
  if (found != flags_end) return *found;
  const auto word = flags_end == extras.end() ? flags_end : flags_end + 1;
  return words == Words::kRefused && word != extras.end() ? std::optional(*word) : std::nullopt;
}

ExitCode run_command(const Command& command, std::vector<std::string> arguments) {
  CLI::App app(command.help, fmt::format("ferrox {}", command.name));
  app.allow_extras();
  app.get_formatter()->column_width(34);
  const auto run = command.add(app);
  arguments = expand_flag_aliases(app, std::move(arguments));
  if (const auto refused = find_refused_flag(app, arguments)) return report_usage(*refused);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    print_out("{}", app.help());
    return ExitCode::kSuccess;
  } catch (const CLI::ParseError& error) {
    return report_usage(Error{ErrorCode::kInvalidArgument, error.what()});
  }
  if (const auto extra = unexpected_of(app, command.words)) return unexpected_argument(app, *extra);
  return run();
}

ExitCode dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_err("{}", overview());
    return ExitCode::kUsage;
  }
  const std::string& first = arguments.front();
  if (first == "--version" || first == "version") {
    print_out("ferrox {}\n", kVersion);
    return ExitCode::kSuccess;
  }
  if (first == "--help" || first == "-h" || (first == "help" && arguments.size() == 1)) {
    print_out("{}", overview());
    return ExitCode::kSuccess;
  }
  if (first == "help") return dispatch({arguments[1], "--help"});
  const Command* command = find_command(first);
  if (command == nullptr) return unknown_command(first);
  return run_command(*command, {arguments.begin() + 1, arguments.end()});
}

/// The last resort for what no command expected: the machine refused memory, a thread or a file.
ExitCode dispatch_safely(const std::vector<std::string>& arguments) {
  try {
    return dispatch(arguments);
  } catch (const std::bad_alloc&) {
    return report_failure(Error{ErrorCode::kMemoryBudget, "out of memory"});
  } catch (const std::exception& error) {
    return report_failure(Error{ErrorCode::kIo, error.what()});
  }
}

}  // namespace

std::vector<std::string> words_of(const CLI::App& app) {
  auto words = app.remaining();
  const auto flags_end = std::find(words.begin(), words.end(), "--");
  if (flags_end != words.end()) words.erase(flags_end);
  return words;
}

int run_command_line(int argc, const char* const* argv) {
  hold_standard_streams();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  ExitCode exit_code = dispatch_safely(arguments);
  const auto flushed = flush_output();
  if (!flushed && exit_code == ExitCode::kSuccess) exit_code = report_failure(flushed.error());
  return static_cast<int>(exit_code);
}

}  // namespace ferrox
