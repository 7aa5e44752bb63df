// What goes into the engine and what comes out of it?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/sampling_params.h"
#include "kv/prefix_report.h"
#include "sched/caller.h"

namespace ferrox {

using RequestId = uint64_t;

/// One completion of one prompt.
struct GenerationRequest {
  std::vector<int32_t> prompt;        ///< token ids, BOS included where the model wants one; not empty
  std::optional<int64_t> max_tokens;  ///< absent: the engine's default; -1: the rest of the context
  SamplingParams sampling;
  std::vector<std::string> stop;  ///< stop strings; none empty
  std::vector<int32_t> stop_tokens;
  bool ignore_eos = false;
  bool include_stop = false;     ///< keep the matched stop string in the text
  int64_t timeout_ms = -1;       ///< the longest wait for admission; -1: the engine's default
  bool use_prefix_cache = true;  ///< false: computes all of its prompt, and leaves nothing to others
  std::string cache_space;       ///< the namespace of the prefixes that it may share
  Caller caller;                 ///< whose share of the engine it takes
  int32_t priority = 0;          ///< a lower number goes first, before all shares
};

/// Log-probability of one token.
struct TokenLogprob {
  int32_t id;
  float logprob;
};

/// A sampled token. `text` is what this token releases: empty while a character or a possible stop is held back, more
/// than one token's text when a held piece is let go. Always whole UTF-8 characters.
struct TokenEvent {
  int32_t id;
  std::string text;
  std::optional<TokenLogprob> logprob;     ///< of id itself, when asked for
  std::vector<TokenLogprob> top_logprobs;  ///< descending
};

/// Prompt rows computed so far; sent after each chunk of a prompt.
struct PromptProgressEvent {
  int64_t n_processed;
  int64_t n_prompt;
  int64_t n_cached = 0;  ///< of the prompt, that were there already
};

enum class FinishReason { kStop, kLength, kCancelled };

/// "stop", "length" or "cancelled".
constexpr const char* finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      break;
  }
  return "cancelled";
}

/// Where the reuse of a prompt ended, and why.
struct PrefixEnd {
  PrefixMiss miss;
  int64_t position;  ///< of the first prompt token that no cached sequence shares, or that had to be computed
  int32_t token;     ///< that token
};

/// What was measured; what was not is absent.
struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  std::optional<int64_t> cached_tokens;  ///< absent: no cache is configured
  std::optional<PrefixEnd> prefix_end;   ///< where less than all of the prompt was there
  double queue_ms = 0;
  double prefill_ms = 0;
  double decode_ms = 0;
  std::optional<double> time_to_first_token_ms;  ///< from submission
};

/// The last event of a request that ran. `text` is what was still held back.
struct DoneEvent {
  FinishReason reason;
  std::string text;
  std::optional<std::string> matched_stop;  ///< the stop string that ended it
  std::optional<int32_t> stop_token;        ///< the end-of-generation or stop token that ended it
  Usage usage;
};

/// Events of one request, in order: progress*, token*, then one DoneEvent or one Error, after which nothing comes.
using Event = std::variant<PromptProgressEvent, TokenEvent, DoneEvent, Error>;

/// Whether nothing comes after it.
inline bool is_last(const Event& event) {
  return std::holds_alternative<DoneEvent>(event) || std::holds_alternative<Error>(event);
}

/// Called on the engine thread: must return at once and never throw (post it to your own loop or queue).
using EventSink = std::function<void(Event)>;

/// A request, and who hears of it.
struct NewRequest {
  GenerationRequest request;
  EventSink sink;
};

}  // namespace ferrox
