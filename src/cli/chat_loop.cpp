#include "cli/chat_loop.h"

#include <cstdio>

#include <fmt/format.h>

#include "cli/metadata_view.h"
#include "cli/nearest_name.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace ferrox {
namespace {

struct SlashCommand {
  const char* name;
  const char* help;
};

constexpr SlashCommand kSlashCommands[] = {
    {"/help", "lists these commands"},
    {"/clear", "forgets the conversation"},
    {"/system", "TEXT: replaces the system message and begins anew; without TEXT there is none"},
    {"/regen", "drops the last answer and asks for another one"},
    {"/save", "FILE: writes the conversation as JSON"},
    {"/quit", "ends; so do Ctrl-D, and Ctrl-C twice"},
};

void print_help() {
  for (const auto& command : kSlashCommands) print_err("{:<8} {}\n", command.name, command.help);
  print_err("Ctrl-C while an answer comes ends the answer.\n");
}

void unknown_command(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& command : kSlashCommands) known.emplace_back(command.name);
  const auto nearest = nearest_name(name, known);
  print_err("unknown command {}; {}\n", printable(name, 100),
            nearest ? "did you mean " + *nearest + "?" : "/help lists them");
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

ExitCode ChatLoop::run() {
  bool asked_to_quit = false;
  while (true) {
    interrupts_.reset();
    const auto line = editor_.read("> ");
    if (!line) return exit_code_;
    if (line->interrupted) {
      if (asked_to_quit) return exit_code_;
      asked_to_quit = true;
      print_err("Ctrl-C again quits, as does Ctrl-D.\n");
      continue;
    }
    asked_to_quit = false;
    if (handle(line->text) == Next::kQuit) return exit_code_;
  }
}

ChatLoop::Next ChatLoop::handle(const std::string& line) {
  const std::string text = trimmed(line);
  if (text.empty()) return Next::kGoOn;
  if (text.starts_with('/')) return handle_command(text);
  show(session_.ask(text));
  return Next::kGoOn;
}

ChatLoop::Next ChatLoop::handle_command(const std::string& line) {
  const auto space = line.find_first_of(" \t");
  const std::string name = line.substr(0, space);
  const std::string argument = space == std::string::npos ? "" : trimmed(line.substr(space));
  if (name == "/quit" || name == "/exit") return Next::kQuit;
  if (name == "/help") {
    print_help();
  } else if (name == "/clear") {
    session_.clear();
  } else if (name == "/system") {
    session_.set_system(argument);
  } else if (name == "/regen") {
    show(session_.regenerate());
  } else if (name == "/save") {
    const auto saved = argument.empty() ? make_error(ErrorCode::kInvalidArgument, "/save: expected a file name")
                                        : session_.save(argument);
    print_err("{}\n", printable(saved ? "saved to " + argument : saved.error().message, 2000));
  } else {
    unknown_command(name);
  }
  return Next::kGoOn;
}

void ChatLoop::show(const Result<Answer>& answer) {
  if (!answer) {
    exit_code_ = report_failure(answer.error());
    if (answer.error().code == ErrorCode::kContextLength) print_err("/clear begins anew.\n");
    return;
  }
  if (is_terminal(Stream::kErr)) print_err("\033[2m[{}]\033[0m\n", speed_line(answer->usage));
}

}  // namespace ferrox
