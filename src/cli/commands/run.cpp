// What does the model answer to one prompt? The text on stdout, the speed on stderr.
#include <memory>

#include <fmt/format.h>

#include "cli/chat_prompt.h"
#include "cli/command.h"
#include "cli/engine_session.h"
#include "cli/generation_options.h"
#include "cli/input_text.h"
#include "cli/load_options.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace ferrox {
namespace {

struct Arguments {
  LoadArguments load;
  GenerationArguments generation;
  std::vector<std::string> words;
  std::string prompt;
  std::string prompt_file;
  std::string system;
  bool raw = false;
  bool quiet = false;
};

// A file's last newline ends its last line; it isn't part of what is asked.
std::string without_last_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

/// The prompt argument, -p and -f in this order; standard input when there is none of them.
Result<std::string> prompt_text(const Arguments& arguments) {
  std::string text = fmt::format("{}", fmt::join(arguments.words, " "));
  text += arguments.prompt;
  if (!arguments.prompt_file.empty()) {
    TRY_ASSIGN(auto file_text, read_text_file(arguments.prompt_file));
    text += (text.empty() ? "" : "\n\n") + without_last_newline(std::move(file_text));
  }
  if (text.empty() && arguments.prompt_file.empty() && !is_terminal(Stream::kIn)) {
    TRY_ASSIGN(auto piped, read_text_file("-"));
    text = without_last_newline(std::move(piped));
  }
  if (text.empty())
    return make_error(ErrorCode::kInvalidArgument, "no prompt: give one as argument, with -f or in a pipe");
  return text;
}

Result<std::vector<int32_t>> prompt_tokens(const Engine& engine, const Arguments& arguments, const std::string& text) {
  if (arguments.raw) return raw_prompt(engine, text);
  std::vector<ChatMessage> messages;
  if (!arguments.system.empty()) messages.push_back({"system", arguments.system});
  messages.push_back({"user", text});
  return chat_prompt(engine, messages);
}

ExitCode answer(const Arguments& arguments, const EngineOptions& options, GenerationRequest request,
                const std::string& text) {
  const auto engine = load_engine(options);
  if (!engine) return report_failure(engine.error());
  auto tokens = prompt_tokens(**engine, arguments, text);
  if (!tokens) return report_failure(tokens.error());
  request.prompt = std::move(*tokens);
  const uint64_t seed = request.sampling.seed;
  const InterruptGuard interrupts;
  const auto answer = print_answer(**engine, std::move(request), interrupts);
  if (!answer) return report_failure(answer.error());
  if (!arguments.quiet) print_err("[{}; seed {}]\n", speed_line(answer->usage), seed);
  return answer->reason == FinishReason::kCancelled ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

ExitCode run(const Arguments& arguments) {
  const auto request = resolve_generation(arguments.generation);
  if (!request) return report_option(request.error());
  auto options = resolve_load(arguments.load);
  if (!options) return report_option(options.error());
  options->n_parallel = 1;
  const auto text = prompt_text(arguments);
  if (!text) return report_option(text.error());
  return answer(arguments, *options, *request, *text);
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  app.footer("Words that belong to no option are the prompt: ferrox run -n 20 Why is the sky blue?");
  app.add_option("-p,--prompt", arguments->prompt, "what to ask; words without a flag come before it");
  app.add_option("-f,--file", arguments->prompt_file, "read the prompt from a file; -: standard input")
      ->check(not_empty());
  auto* system = app.add_option("--system-prompt", arguments->system, "what the model is told before the prompt");
  app.add_flag("--no-cnv,--no-conversation", arguments->raw, "continue the text as it is, without the chat template")
      ->excludes(system);
  app.add_flag("-q,--quiet", arguments->quiet, "no speed line");
  add_load_options(app, arguments->load);
  add_generation_options(app, arguments->generation);
  return [arguments, &app] {
    arguments->words = words_of(app);
    return run(*arguments);
  };
}

}  // namespace

extern const Command command_run;
const Command command_run = {"run", "answers one prompt", add, Words::kTaken};

}  // namespace ferrox
