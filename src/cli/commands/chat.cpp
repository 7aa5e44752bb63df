// How does one talk with a model in the terminal? Line by line, the answers streaming.
#include <memory>

#include <fmt/format.h>

#include "cli/chat_loop.h"
#include "cli/command.h"
#include "cli/engine_session.h"
#include "cli/generation_options.h"
#include "cli/load_options.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace ferrox {
namespace {

struct Arguments {
  LoadArguments load;
  GenerationArguments generation;
  std::string system;
  bool no_history = false;
};

ExitCode run(const Arguments& arguments) {
  const auto request = resolve_generation(arguments.generation);
  if (!request) return report_option(request.error());
  auto options = resolve_load(arguments.load);
  if (!options) return report_option(options.error());
  options->n_parallel = 1;
  const auto engine = load_engine(*options);
  if (!engine) return report_failure(engine.error());
  InterruptGuard interrupts;
  const auto generate = [&](const std::vector<ChatMessage>& messages, uint64_t seed) -> Result<Answer> {
    GenerationRequest next = *request;
    TRY_ASSIGN(next.prompt, chat_prompt(**engine, messages));
    next.sampling.seed = seed;
    return print_answer(**engine, std::move(next), interrupts);
  };
  ChatSession session(generate, arguments.system, request->sampling.seed);
  LineEditor editor(arguments.no_history ? "" : default_history_path());
  if (is_terminal(Stream::kIn)) print_err("{}; /help lists commands\n", (*engine)->model_id());
  return ChatLoop(session, editor, interrupts).run();
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  app.add_option("--system-prompt", arguments->system, "what the model is told before the conversation");
  app.add_flag("--no-history", arguments->no_history, "keep no history of typed lines");
  add_load_options(app, arguments->load);
  add_generation_options(app, arguments->generation);
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_chat;
const Command command_chat = {"chat", "talks with a model in the terminal", add};

}  // namespace ferrox
