#include "cli/engine_session.h"

#include <cstdio>

#include <fmt/format.h>

#include "cli/terminal.h"

namespace ferrox {
namespace {

// Shorter prompts are done before a bar could be read.
constexpr int64_t kLongPromptTokens = 512;

}  // namespace

Result<std::unique_ptr<Engine>> load_engine(EngineOptions options) {
  ProgressBar bar("loading");
  options.on_load_progress = [&bar](double fraction) { bar.update(fraction); };
  return Engine::load(options);
}

Result<Answer> print_answer(Engine& engine, GenerationRequest request, const InterruptGuard& interrupts) {
  ProgressBar bar("prompt");
  AnswerSinks sinks;
  bool ends_line = true;
  sinks.on_text = [&](const std::string& piece) {
    bar.clear();
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
    ends_line = piece.ends_with('\n');
  };
  sinks.on_prompt_progress = [&](int64_t n_processed, int64_t n_prompt) {
    if (n_prompt < kLongPromptTokens) return;
    bar.update(static_cast<double>(n_processed) / static_cast<double>(n_prompt));
    if (n_processed == n_prompt) bar.clear();
  };
  sinks.is_interrupted = [&] { return interrupts.count() > 0 || std::ferror(stdout) != 0; };
  auto answer = generate_answer(engine, std::move(request), sinks);
  bar.clear();
  if (answer && !ends_line) std::fputc('\n', stdout);
  if (std::fflush(stdout) != 0) return make_error(ErrorCode::kIo, "standard output: can't write");
  return answer;
}

}  // namespace ferrox
