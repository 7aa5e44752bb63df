#include "engine/memory_question.h"

#include <algorithm>

#include "arch/arch.h"
#include "base/checked_math.h"
#include "base/machine.h"
#include "base/units.h"
#include "engine/samplers/candidates.h"
#include "engine/step_batch.h"
#include "kv/kv_budget.h"

namespace ferrox {
namespace {

/// What contiguous caches of one request would take at this context.
std::string contiguous_line(const MemoryQuestion& q, int64_t context) {
  return fmt::format("one request of {} positions in contiguous caches: every row {}, at rest {}, at its peak {}",
                     context, format_bytes(kv_full_bytes(q.layout, context)),
                     format_bytes(kv_resting_bytes(q.layout, context)), format_bytes(kv_peak_bytes(q.layout, context)));
}

/// The model's scratch, and that of choosing tokens: each request's logits, a copy of them for those who want to see
/// their probabilities, and the list of candidates of one after the other.
uint64_t scratch_bytes_of(const Model& model, const EngineOptions& options) {
  const int32_t n_vocab = model.shape().n_vocab;
  const uint64_t logits = StepBatch::logit_bytes(n_vocab, std::clamp(options.n_parallel, 1, step_rows(options, model)));
  const uint64_t candidates = static_cast<uint64_t>(n_vocab) * sizeof(Candidate);
  return saturating_add(model.scratch_bytes(step_threads(options)), 2 * logits + candidates);
}

}  // namespace

int32_t step_rows(const EngineOptions& options, const Model& model) {
  return std::clamp(std::max(options.batch_rows, options.n_parallel), 1, model.max_batch_rows());
}

int step_threads(const EngineOptions& options) {
  return options.n_threads > 0 ? options.n_threads : available_threads();
}

uint64_t tier_staging_bytes(const EngineOptions& options) {
  constexpr uint64_t kMost = uint64_t{256} << 20;
  return std::min(kMost, disk_budget_bytes(options));
}

uint64_t disk_budget_bytes(const EngineOptions& options) { return options.kv_disk ? options.kv_disk_bytes : 0; }

Result<MemoryQuestion> memory_question(const Model& model, const EngineOptions& options) {
  MemoryQuestion question{.layout = {model.shape().kv_layers, options.page_rows, options.k_type, options.v_type,
                                     model.shape().state_floats},
                          .storage = options.kv_storage,
                          .trained_context = model.shape().context_length,
                          .context_length = options.context_length,
                          .n_parallel = options.kv_storage == KvStorage::kContiguous ? 1 : options.n_parallel,
                          .chunk_rows = step_rows(options, model),
                          .kv_bytes = options.kv_bytes,
                          .budget_bytes = 0,
                          .weight_bytes = model.shape().weight_bytes,
                          .scratch_bytes = scratch_bytes_of(model, options)};
  question.keeps_prefixes = options.prefix_cache;
  question.tier_bytes = saturating_add(options.kv_host_bytes, tier_staging_bytes(options));
  TRY(validate_layout(question.layout));
  TRY_ASSIGN(question.budget_bytes, device_budget_bytes(options.memory_budget_bytes));
  return question;
}

Result<FitReport> report_fit(const GgufFile& file, const EngineOptions& options) {
  const int32_t batch_rows = std::max({options.batch_rows, options.n_parallel, 1});
  TRY_ASSIGN(const auto model, load_model(file, ModelOptions{batch_rows}));
  TRY_ASSIGN(const MemoryQuestion question, memory_question(*model, options));
  FitReport report;
  const Result<MemoryPlan> plan = plan_memory(question);
  if (!plan) {
    report.refusal = plan.error();
    report.lines.push_back(fmt::format("largest context that fits: {} of the {} positions trained",
                                       largest_context(question), question.trained_context));
    return report;
  }
  report.lines = explain_plan(question, *plan);
  report.lines.push_back(contiguous_line(question, plan->context_length));
  report.doubts = doubts_of_plan(question, *plan);
  return report;
}

}  // namespace ferrox
