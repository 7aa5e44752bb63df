// How well does a model predict a text, and how far are its predictions from a reference's?
#include <memory>

#include <fmt/format.h>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/input_text.h"
#include "cli/load_options.h"
#include "cli/model_file.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "cli/perplexity_report.h"
#include "cli/reference_logits.h"
#include "cli/terminal.h"
#include "engine/log_prob_row.h"
#include "gguf/in_file.h"
#include "text/tokenizer.h"

namespace ferrox {
namespace {

constexpr int64_t kContext = 512;

struct Arguments {
  std::string model_path;
  std::string file;
  std::string logits_path;  ///< written, or read with compares
  bool compares = false;
  std::string compared_path;  ///< both in one
  std::string k_type = "f16";
  std::string v_type = "f16";
  int64_t context = 0;  ///< 0: kContext, or the reference's
  int64_t n_chunks = 0;
  int32_t batch_rows = 512;
  int n_threads = 0;
  bool json = false;
};

/// Scores rows as they come; writes them to a file or compares them with one.
class RowScorer {
 public:
  RowScorer(int n_threads, int32_t n_vocab, ReferenceWriter* writer, const ReferenceFile* reference)
      : pool_(n_threads), n_vocab_(static_cast<size_t>(n_vocab)), writer_(writer), reference_(reference) {
    if (reference != nullptr) divergence_.emplace();
  }

  void take(const PredictedRows& rows) {
    const size_t n_rows = rows.targets.size();
    const auto n_words = static_cast<size_t>(packed_row_words(static_cast<int64_t>(n_vocab_)));
    std::vector<Score> scores(n_rows);
    std::vector<uint16_t> packed(writer_ != nullptr ? n_rows * n_words : 0);
    pool_.run(static_cast<int64_t>(n_rows), [&](int64_t i, int) {
      const auto at = static_cast<size_t>(i);
      const auto logits = rows.logits.subspan(at * n_vocab_, n_vocab_);
      const RowNorm norm = row_norm(logits);
      scores[at].nll = norm.log_sum_exp - static_cast<double>(logits[static_cast<size_t>(rows.targets[at])]);
      if (writer_ != nullptr) pack_log_probs(logits, norm, std::span(packed).subspan(at * n_words, n_words));
      if (reference_ == nullptr) return;
      scores[at].divergence =
          row_divergence(logits, norm, reference_->row(rows.chunk, rows.first + i), rows.targets[at]);
    });
    for (const Score& score : scores) {
      nll_.add(score.nll);
      if (divergence_) divergence_->add(score.nll, score.divergence);
    }
    if (writer_ != nullptr) writer_->add_row(packed);
  }

  PerplexityReport report(const TextChunks& chunks) const {
    return {chunks.n_chunks, chunks.context, nll_.count(), nll_.estimate(), divergence_};
  }

 private:
  struct Score {
    double nll;
    RowDivergence divergence;
  };

  ThreadPool pool_;
  size_t n_vocab_;
  ReferenceWriter* writer_;
  const ReferenceFile* reference_;
  RunningMean nll_;
  std::optional<DivergenceStats> divergence_;
};

Result<TextChunks> chunks_of_text(const Arguments& arguments, const Tokenizer& tokenizer) {
  TRY_ASSIGN(const auto text, read_text_file(arguments.file));
  return cut_chunks(tokenizer.add_bos(tokenizer.encode(text, SpecialTokens::kAsText)), arguments.context,
                    arguments.n_chunks);
}

/// The reference to compare with, if one is named.
Result<std::optional<ReferenceFile>> open_reference(const Arguments& arguments) {
  if (arguments.compared_path.empty()) return std::optional<ReferenceFile>();
  TRY_ASSIGN(auto reference, ReferenceFile::open(arguments.compared_path));
  if (arguments.n_chunks > 0) reference.shorten(arguments.n_chunks);
  return std::optional(std::move(reference));
}

Result<void> check_vocabulary(const Arguments& arguments, const ReferenceFile& reference, int32_t n_vocab) {
  if (reference.n_vocab() == n_vocab) return {};
  return make_error(ErrorCode::kInvalidArgument, "{}: expected a vocabulary of {}, found {}", arguments.compared_path,
                    n_vocab, reference.n_vocab());
}

EvaluatorOptions evaluator_options(const Arguments& arguments, int64_t context, DType k_type, DType v_type) {
  EvaluatorOptions options;
  options.n_threads = arguments.n_threads;
  options.n_positions = context;
  options.batch_rows = static_cast<int32_t>(std::min<int64_t>(arguments.batch_rows, context));
  options.k_type = k_type;
  options.v_type = v_type;
  return options;
}

Result<PerplexityReport> score(const Arguments& arguments, DType k_type, DType v_type) {
  TRY_ASSIGN(const auto file, open_model_file(arguments.model_path));
  TRY_ASSIGN(const auto tokenizer, in_file(file, make_tokenizer(file.metadata())));
  TRY_ASSIGN(const auto reference, open_reference(arguments));
  TextChunks chunks;
  if (reference) {
    chunks = reference->chunks();
  } else {
    TRY_ASSIGN(chunks, chunks_of_text(arguments, *tokenizer));
  }
  const auto options = evaluator_options(arguments, chunks.context, k_type, v_type);
  TRY_ASSIGN(auto evaluator, in_file(file, Evaluator::load(file, options)));
  const int32_t n_vocab = evaluator.shape().n_vocab;
  if (reference) TRY(check_vocabulary(arguments, *reference, n_vocab));
  std::optional<ReferenceWriter> writer;
  if (!arguments.logits_path.empty()) {
    TRY_ASSIGN(writer, ReferenceWriter::create(arguments.logits_path, chunks, n_vocab));
  }
  RowScorer scorer(evaluator.n_threads(), n_vocab, writer ? &*writer : nullptr, reference ? &*reference : nullptr);
  ProgressBar bar("scoring");
  const auto bos = tokenizer->vocabulary().adds_bos() ? tokenizer->vocabulary().bos() : std::nullopt;
  TRY(predict_chunks(evaluator, chunks, bos, [&](const PredictedRows& rows) -> Result<void> {
    scorer.take(rows);
    bar.update(static_cast<double>(rows.chunk + 1) / static_cast<double>(chunks.n_chunks));
    return {};
  }));
  if (writer) TRY(writer->close());
  return scorer.report(chunks);
}

/// --kl-divergence turns the file that is written into the one that is read. Errors: nothing to score, or options that
/// say twice what is.
Result<Arguments> settle(Arguments arguments) {
  const auto wrong = [](const char* message) { return make_error(ErrorCode::kInvalidArgument, "{}", message); };
  const bool names_base = !arguments.logits_path.empty();
  if (arguments.compares && !names_base) return wrong("--kl-divergence: expected --kl-divergence-base FILE beside it");
  if (!arguments.compared_path.empty() && names_base) {
    return wrong("--kl: a comparison writes no predictions, leave --save-logits out");
  }
  if (arguments.compares) arguments.compared_path = std::exchange(arguments.logits_path, {});
  const bool has_reference = !arguments.compared_path.empty();
  if (has_reference && (!arguments.file.empty() || arguments.context > 0)) {
    return wrong("--kl: the reference brings its text and its context, leave --file and --ctx-size out");
  }
  if (!has_reference && arguments.file.empty()) {
    return wrong("expected a text with -f FILE, or a reference with --kl FILE");
  }
  if (arguments.context == 0) arguments.context = kContext;
  return arguments;
}

ExitCode run(const Arguments& given) {
  const auto arguments = settle(given);
  if (!arguments) return report_usage(arguments.error());
  const auto k_type = kv_type(arguments->k_type);
  if (!k_type) return report_usage(k_type.error());
  const auto v_type = kv_type(arguments->v_type);
  if (!v_type) return report_usage(v_type.error());
  const auto report = score(*arguments, *k_type, *v_type);
  if (!report) return report_failure(report.error());
  print_out("{}", arguments->json ? report_json(*report) : report_text(*report));
  return ExitCode::kSuccess;
}

// What excludes what is said by settle: CLI11's help lists an option's exclusions in an order of chance.
void add_text_options(CLI::App& app, Arguments& arguments) {
  app.add_option("-f,--file", arguments.file, "the text; -: standard input")->check(not_empty());
  app.add_option("-c,--ctx-size", arguments.context, "tokens of a chunk (512); its second half is scored")
      ->check(number_within(4, 1 << 20));
  app.add_option("--chunks", arguments.n_chunks, "chunks to score; 0: all")
      ->capture_default_str()
      ->check(number_within(0, 1 << 30));
  app.add_option("--kl-divergence-base,--save-logits,--save-all-logits", arguments.logits_path,
                 "write the predictions to this file; with --kl-divergence: compare with it")
      ->check(not_empty());
  app.add_flag("--kl-divergence", arguments.compares, "compare with --kl-divergence-base");
  app.add_option("--kl", arguments.compared_path, "compare with this file of predictions")->check(not_empty());
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  add_model_option(app, arguments->model_path);
  add_thread_option(app, arguments->n_threads);
  add_text_options(app, *arguments);
  app.add_option("-b,--batch-size", arguments->batch_rows, "most tokens of one pass")
      ->capture_default_str()
      ->check(number_within(1, 1 << 16));
  app.add_option("--cache-type-k", arguments->k_type, "element type of cached keys: " + kv_type_names())
      ->capture_default_str();
  app.add_option("--cache-type-v", arguments->v_type, "element type of cached values")->capture_default_str();
  app.add_flag("--json", arguments->json, "print JSON");
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_perplexity;
const Command command_perplexity = {"perplexity",
                                    "measures how well a text is predicted, or how closely to a reference", add};

}  // namespace ferrox
