// How fast does a model run here? Prompt and generation speed, as llama-bench measures them.
#include <memory>

#include <fmt/format.h>

#include "base/machine.h"
#include "cli/bench_plan.h"
#include "cli/bench_report.h"
#include "cli/bench_runner.h"
#include "cli/command.h"
#include "cli/cpu_name.h"
#include "cli/load_options.h"
#include "cli/machine_limits.h"
#include "cli/model_file.h"
#include "cli/model_summary.h"
#include "cli/model_work.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "cli/peer_bench.h"
#include "engine/evaluator.h"
#include "gguf/in_file.h"
#include "kernels/dispatch.h"
#include "tensor/kv_type.h"

namespace ferrox {
namespace {

struct Arguments {
  std::string model_path;
  BenchLists lists;
  int32_t n_repetitions = 5;
  int32_t batch_rows = 512;
  std::string k_type = "f16";
  std::string v_type = "f16";
  std::string output = "md";
  std::string peer;
  bool no_warmup = false;
  bool profile = false;
};

Result<EvaluatorOptions> evaluator_options(const Arguments& arguments, const std::vector<BenchTest>& tests) {
  EvaluatorOptions options;
  options.batch_rows = arguments.batch_rows;
  TRY_ASSIGN(options.k_type, kv_type(arguments.k_type));
  TRY_ASSIGN(options.v_type, kv_type(arguments.v_type));
  options.n_positions = 1;
  for (const auto& test : tests) {
    options.n_positions = std::max(options.n_positions, test.n_depth + test.n_prompt + test.n_gen);
    options.n_sequences = std::max(options.n_sequences, test.n_sequences);
  }
  return options;
}

double bytes_an_element(const std::string& name) {
  const auto dtype = kv_type(name);
  const KvType* type = dtype ? find_kv_type(*dtype) : nullptr;
  return type != nullptr ? static_cast<double>(type->block_bytes) / type->block_elements : 0.0;
}

/// What K and V take, over what they would as f16.
double bytes_beside_f16(const Arguments& arguments) {
  return (bytes_an_element(arguments.k_type) + bytes_an_element(arguments.v_type)) / (2 * sizeof(uint16_t));
}

BenchContext bench_context(const Arguments& arguments, const GgufFile& file, const KernelTable& kernels) {
  const ModelSummary summary = summarize(file);
  BenchContext context;
  context.cpu_info = cpu_name();
  context.isa = kernels.name;
  context.model_filename = file.name();
  context.model_type = fmt::format("{} {}", summary.architecture, summary.types.empty() ? "" : summary.types[0].type);
  context.model_size = file.tensor_bytes();
  context.model_n_params = summary.n_parameters;
  context.n_batch = arguments.batch_rows;
  context.type_k = arguments.k_type;
  context.type_v = arguments.v_type;
  context.work = count_work(file);
  context.work.kv_bytes_per_token *= bytes_beside_f16(arguments);
  context.peer = arguments.peer;
  return context;
}

std::optional<PeerRun> peer_run(const Arguments& arguments, const GgufFile& file) {
  if (arguments.peer.empty()) return std::nullopt;
  return PeerRun{arguments.peer, file.name(), arguments.batch_rows};
}

std::span<const std::byte> mapped_weights(const GgufFile& file) {
  return file.maps().empty() ? std::span<const std::byte>() : file.maps().front().bytes();
}

/// Runs every test; consecutive tests of one thread count share an evaluator.
Result<std::vector<BenchRow>> measure(const Arguments& arguments, EvaluatorOptions options, const GgufFile& file,
                                      const KernelTable& kernels, std::vector<BenchTest> tests) {
  std::optional<Evaluator> evaluator;
  std::optional<LimitProbe> probe;
  std::vector<BenchRow> rows;
  for (auto& test : tests) {
    if (test.n_threads == 0) test.n_threads = available_threads();
    if (!evaluator || evaluator->n_threads() != test.n_threads) {
      evaluator.reset();
      options.n_threads = test.n_threads;
      TRY_ASSIGN(evaluator, in_file(file, Evaluator::load(file, options)));
      probe.emplace(kernels, test.n_threads, mapped_weights(file));
    }
    BenchRunner runner(*evaluator, *probe, peer_run(arguments, file));
    TRY_ASSIGN(auto row, runner.run(test, {arguments.n_repetitions, !arguments.no_warmup, arguments.profile}));
    rows.push_back(std::move(row));
  }
  return rows;
}

ExitCode run(const Arguments& arguments) {
  const auto format = bench_format(arguments.output);
  if (!format) return report_usage(format.error());
  const auto tests = plan_bench(arguments.lists);
  if (!tests) return report_usage(tests.error());
  const auto options = evaluator_options(arguments, *tests);
  if (!options) return report_usage(options.error());
  if (!arguments.peer.empty() && options->n_sequences > 1) {
    return report_usage(make_error(ErrorCode::kInvalidArgument,
                                   "--compare: llama-bench measures one sequence, leave --n-parallel out"));
  }
  const auto kernels = active_kernels();
  if (!kernels) return report_failure(kernels.error());
  const auto file = open_model_file(arguments.model_path);
  if (!file) return report_failure(file.error());
  if (!arguments.peer.empty() && file->maps().empty()) {
    return report_usage(
        make_error(ErrorCode::kInvalidArgument, "--compare: the peer needs a model file, give one with -m"));
  }
  const auto rows = measure(arguments, *options, *file, **kernels, *tests);
  if (!rows) return report_failure(rows.error());
  print_out("{}", format_bench(bench_context(arguments, *file, **kernels), *rows, *format));
  return ExitCode::kSuccess;
}

// llama-bench's flags may be repeated: what they say is joined.
CLI::Option* add_list(CLI::App& app, const char* flags, std::string& list, const char* help) {
  return app.add_option(flags, list, help)
      ->capture_default_str()
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::Join);
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  add_model_option(app, arguments->model_path);
  add_list(app, "-p,--n-prompt", arguments->lists.n_prompt, "prompt lengths: 512 or 128,512 or 16-64+16");
  add_list(app, "-n,--n-gen", arguments->lists.n_gen, "generated tokens");
  add_list(app, "-d,--n-depth", arguments->lists.n_depth, "tokens of context before each test");
  add_list(app, "-t,--threads", arguments->lists.n_threads, "thread counts; 0: what this process may use");
  add_list(app, "--n-parallel", arguments->lists.n_parallel, "sequences that do each test side by side");
  add_repeatable(app, "--prompt-gen", arguments->lists.prompt_gen, "a prompt and then generation: PP,TG");
  app.add_option("-r,--repetitions", arguments->n_repetitions, "times each test runs")
      ->capture_default_str()
      ->check(number_within(1, 10000));
  app.add_option("-b,--batch-size,--ubatch-size", arguments->batch_rows, "most tokens of one pass")
      ->capture_default_str()
      ->check(number_within(1, 1 << 16));
  app.add_option("--cache-type-k", arguments->k_type, "element type of cached keys: " + kv_type_names())
      ->capture_default_str();
  app.add_option("--cache-type-v", arguments->v_type, "element type of cached values")->capture_default_str();
  app.add_option("-o,--output", arguments->output, "md, json, jsonl or csv")->capture_default_str();
  app.add_option("--compare", arguments->peer, "a llama-bench to run in turn on the same tests");
  app.add_flag("--profile", arguments->profile, "also show what a step's and a prompt's time was spent on");
  app.add_flag("--no-warmup", arguments->no_warmup, "measure from the first pass on");
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_bench;
const Command command_bench = {"bench", "measures prompt and generation speed", add};

}  // namespace ferrox
