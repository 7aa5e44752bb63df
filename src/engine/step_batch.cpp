#include "engine/step_batch.h"

namespace ferrox {

void StepBatch::clear() {
  tokens_.clear();
  segments_.clear();
  logit_rows_.clear();
}

void StepBatch::add(RunningRequest& request, int32_t n_rows) {
  const std::span<const int32_t> rows = request.pending_tokens(n_rows);
  tokens_.insert(tokens_.end(), rows.begin(), rows.end());
  if (request.reaches_end(n_rows)) logit_rows_.push_back(static_cast<int32_t>(tokens_.size()) - 1);
  segments_.push_back(request.begin_rows(n_rows));
}

}  // namespace ferrox
