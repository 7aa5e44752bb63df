// What is asked of memory by a model and the options it is loaded with?
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/memory_plan.h"

namespace ferrox {

/// Most rows of one step, and the threads that compute it.
int32_t step_rows(const EngineOptions& options, const Model& model);
int step_threads(const EngineOptions& options);

/// Bytes that files of prefixes may take, and that their copies may while they wait to be written (0 without a folder).
uint64_t disk_budget_bytes(const EngineOptions& options);
uint64_t tier_staging_bytes(const EngineOptions& options);

/// Errors: a layout that can't be stored, a budget variable that isn't a number.
Result<MemoryQuestion> memory_question(const Model& model, const EngineOptions& options);

/// Whether a load would fit, and all the arithmetic.
struct FitReport {
  std::vector<std::string> lines;
  std::vector<std::string> doubts;  ///< what fits and still may surprise
  std::optional<Error> refusal;     ///< why it doesn't fit
};

/// Plans memory for the model of a file as a load would, and allocates no KV. Errors: what load_model and
/// memory_question refuse.
Result<FitReport> report_fit(const GgufFile& file, const EngineOptions& options);

}  // namespace ferrox
