#include "sched/step_planner.h"

#include <algorithm>

#include "base/check.h"

namespace ferrox {

std::vector<StepPart> plan_step(std::span<const SequenceWork> running, int32_t max_rows, int32_t paced_rows) {
  CHECK(static_cast<size_t>(max_rows) >= running.size(), "a step has a row for every sequence");
  const auto decodes = [](const SequenceWork& work) { return work.phase == SequencePhase::kDecode; };
  const int64_t n_decoding = std::count_if(running.begin(), running.end(), decodes);
  int64_t prompt_rows = max_rows - n_decoding;
  if (n_decoding > 0) prompt_rows = std::min(prompt_rows, std::max<int64_t>(kLeastPromptRows, paced_rows - n_decoding));
  std::vector<StepPart> parts;
  parts.reserve(running.size());
  for (size_t i = 0; i < running.size(); ++i) {
    const SequenceWork& work = running[i];
    const int64_t n_rows = decodes(work) ? work.n_pending_rows : std::min(work.n_pending_rows, prompt_rows);
    if (!decodes(work)) prompt_rows -= n_rows;
    if (n_rows > 0) parts.push_back({static_cast<int32_t>(i), static_cast<int32_t>(n_rows)});
  }
  return parts;
}

}  // namespace ferrox
