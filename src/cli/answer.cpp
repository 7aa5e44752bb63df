#include "cli/answer.h"

#include <fmt/format.h>

#include "engine/event_channel.h"

namespace ferrox {
namespace {

// How long a Ctrl-C may go unseen while the engine is silent.
constexpr int64_t kPollMs = 50;

/// Takes events until the last one.
class AnswerReader {
 public:
  explicit AnswerReader(const AnswerSinks& sinks) : sinks_(sinks) {}

  bool ended() const { return ended_; }

  void take(Event event) {
    std::visit([this](auto& held) { on(held); }, event);
  }

  Result<Answer> result() && {
    if (error_) return *error_;
    return std::move(answer_);
  }

 private:
  void on(const PromptProgressEvent& progress) {
    if (sinks_.on_prompt_progress) sinks_.on_prompt_progress(progress.n_processed, progress.n_prompt);
  }
  void on(const TokenEvent& token) { emit(token.text); }
  void on(const DoneEvent& done) {
    emit(done.text);
    answer_.reason = done.reason;
    answer_.usage = done.usage;
    ended_ = true;
  }
  void on(const Error& error) {
    error_ = error;
    ended_ = true;
  }
  void emit(const std::string& piece) {
    if (piece.empty()) return;
    answer_.text += piece;
    if (sinks_.on_text) sinks_.on_text(piece);
  }

  const AnswerSinks& sinks_;
  Answer answer_{};
  std::optional<Error> error_;
  bool ended_ = false;
};

double per_second(double n_tokens, double elapsed_ms) { return elapsed_ms > 0 ? n_tokens * 1000 / elapsed_ms : 0; }

}  // namespace

Result<Answer> generate_answer(Engine& engine, GenerationRequest request, const AnswerSinks& sinks) {
  EventChannel channel;
  TRY_ASSIGN(const RequestId id, engine.submit(std::move(request), channel.sink()));
  AnswerReader reader(sinks);
  bool cancelled = false;
  while (!reader.ended()) {
    if (!cancelled && sinks.is_interrupted && sinks.is_interrupted()) {
      engine.cancel(id);
      cancelled = true;
    }
    if (auto event = channel.next(kPollMs)) reader.take(std::move(*event));
  }
  return std::move(reader).result();
}

std::string speed_line(const Usage& usage) {
  // The first answer token comes out of the prompt's last step, so generation time covers one token fewer.
  const double n_decoded = static_cast<double>(std::max<int64_t>(usage.completion_tokens - 1, 0));
  std::string line =
      fmt::format("prompt {} tokens, {:.1f} t/s; answer {} tokens", usage.prompt_tokens,
                  per_second(static_cast<double>(usage.prompt_tokens), usage.prefill_ms), usage.completion_tokens);
  if (n_decoded > 0) line += fmt::format(", {:.1f} t/s", per_second(n_decoded, usage.decode_ms));
  if (usage.time_to_first_token_ms) line += fmt::format("; first token after {:.0f} ms", *usage.time_to_first_token_ms);
  return line;
}

}  // namespace ferrox
