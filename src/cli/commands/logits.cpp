// What are a model's logits for given token ids? Written as: int32 n_tokens, int32 n_vocab, int32 tokens[n_tokens],
// float32 logits[n_tokens][n_vocab], little endian.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/load_options.h"
#include "cli/model_file.h"
#include "cli/option_table.h"
#include "engine/evaluator.h"
#include "gguf/in_file.h"

namespace ferrox {
namespace {

struct Arguments {
  std::string model_path;
  std::string tokens;
  std::string kv_type = "f16";
  std::string out;
  int32_t chunk = 0;
  int n_threads = 0;
};

Result<std::vector<int32_t>> parse_tokens(const std::string& text) {
  std::vector<int32_t> tokens;
  for (const auto& part : CLI::detail::split(text, ',')) {
    int32_t token = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), token);
    if (error != std::errc() || rest != part.data() + part.size()) {
      return make_error(ErrorCode::kInvalidArgument, "--tokens: expected ids such as 1,2,3, found '{}'", part);
    }
    tokens.push_back(token);
  }
  if (tokens.empty()) return make_error(ErrorCode::kInvalidArgument, "--tokens: expected at least one id");
  return tokens;
}

template <class T>
void write_numbers(std::ofstream& out, std::span<const T> numbers) {
  out.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size_bytes()));
}

/// Computes the tokens `chunk` at a time and writes each chunk's rows as they come.
Result<void> write_logits(const GgufFile& file, Evaluator& evaluator, std::span<const int32_t> tokens, size_t chunk,
                          const std::string& path) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return make_error(ErrorCode::kIo, "{}: can't write: {}", path, std::strerror(errno));
  const int32_t header[] = {static_cast<int32_t>(tokens.size()), evaluator.shape().n_vocab};
  write_numbers<int32_t>(out, header);
  write_numbers<int32_t>(out, tokens);
  for (size_t first = 0; first < tokens.size(); first += chunk) {
    const auto part = tokens.subspan(first, std::min(chunk, tokens.size() - first));
    TRY_ASSIGN(const auto logits, evaluator.append(part, Evaluator::Logits::kAll));
    if (!std::all_of(logits.begin(), logits.end(), [](float logit) { return std::isfinite(logit); })) {
      return make_error(ErrorCode::kCorrupt, "{}: tokens {} to {}: expected finite logits, found others", file.name(),
                        first, first + part.size() - 1);
    }
    write_numbers<float>(out, logits);
  }
  out.close();
  if (!out) return make_error(ErrorCode::kIo, "{}: can't write all of it: {}", path, std::strerror(errno));
  return {};
}

// Wide enough for speed, small enough that the rows' logits of a large vocabulary stay in bounds.
constexpr int32_t kWholePromptRows = 512;

/// What the options say.
struct Plan {
  std::vector<int32_t> tokens;
  int32_t chunk;
  EvaluatorOptions evaluator;
};

Result<Plan> make_plan(const Arguments& arguments) {
  Plan plan;
  TRY_ASSIGN(plan.tokens, parse_tokens(arguments.tokens));
  TRY_ASSIGN(plan.evaluator.k_type, kv_type(arguments.kv_type));
  plan.chunk = arguments.chunk > 0 ? arguments.chunk : kWholePromptRows;
  plan.evaluator.v_type = plan.evaluator.k_type;
  plan.evaluator.n_threads = arguments.n_threads;
  plan.evaluator.n_positions = static_cast<int64_t>(plan.tokens.size());
  plan.evaluator.batch_rows = std::min(plan.chunk, kWholePromptRows);
  return plan;
}

Result<void> compute(const Arguments& arguments, const Plan& plan) {
  TRY_ASSIGN(const auto file, open_model_file(arguments.model_path));
  TRY_ASSIGN(auto evaluator, in_file(file, Evaluator::load(file, plan.evaluator)));
  return write_logits(file, evaluator, plan.tokens, static_cast<size_t>(plan.chunk), arguments.out);
}

ExitCode run(const Arguments& arguments) {
  const auto plan = make_plan(arguments);
  if (!plan) return report_option(plan.error());
  const auto computed = compute(arguments, *plan);
  return computed ? ExitCode::kSuccess : report_failure(computed.error());
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  add_model_option(app, arguments->model_path);
  add_thread_option(app, arguments->n_threads);
  app.add_option("--tokens", arguments->tokens, "token ids joined by commas")->required();
  app.add_option("-o,--out", arguments->out, "the file to write")->required()->check(not_empty());
  app.add_option("--chunk", arguments->chunk, "tokens of one pass; 0: as many as fit")
      ->check(number_within(0, 1 << 20));
  app.add_option("--kv-type", arguments->kv_type, "element type of cached keys and values: " + kv_type_names());
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_logits;
const Command command_logits = {"logits", "writes the logits of given token ids", add};

}  // namespace ferrox
