// Which rows of which sequences share the next forward pass? Decode rows first, then as much prompt as fits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ferrox {

enum class SequencePhase { kPrefill, kDecode };

/// What a running sequence could do next.
struct SequenceWork {
  SequencePhase phase;
  int64_t n_pending_rows;  ///< tokens that are not in the KV yet; 1 while decoding
};

/// Rows of one sequence in the coming step.
struct StepPart {
  int32_t sequence;  ///< index into what was given
  int32_t n_rows;
};

/// Of prompts in a step, whatever time that takes: who waits for a first token isn't left out.
inline constexpr int32_t kLeastPromptRows = 16;

/// Plans at most max_rows rows: one row of every decoding sequence, then prompt rows, oldest sequence first, of as
/// many prompts as fit. While somebody decodes, prompts leave it at paced_rows rows with the decoding ones, but go
/// on by kLeastPromptRows. Parts come in the order of `running`, which is the order of admission. Needs max_rows >= the
/// number of sequences, so that nobody is left out for ever.
std::vector<StepPart> plan_step(std::span<const SequenceWork> running, int32_t max_rows, int32_t paced_rows);
inline std::vector<StepPart> plan_step(std::span<const SequenceWork> running, int32_t max_rows) {
  return plan_step(running, max_rows, max_rows);
}

}  // namespace ferrox
