// How are token counts and durations added and named?
#include "server/openai/usage.h"

namespace ferrox {
namespace {

void add_speed(Json& timings, const char* prefix, int64_t n_tokens, double duration_ms) {
  const std::string name = prefix;
  timings[name + "_n"] = n_tokens;
  timings[name + "_ms"] = duration_ms;
  if (n_tokens > 0 && duration_ms > 0) {
    timings[name + "_per_second"] = 1000.0 * static_cast<double>(n_tokens) / duration_ms;
  }
}

const char* miss_name(PrefixMiss miss) {
  switch (miss) {
    case PrefixMiss::kEvicted:
      return "evicted";
    case PrefixMiss::kWindow:
      return "window";
    case PrefixMiss::kDiverged:
    case PrefixMiss::kNone:
      break;
  }
  return "diverged";
}

Json miss_json(const PrefixEnd& end, const Tokenizer& tokenizer) {
  return {{"reason", miss_name(end.miss)},
          {"position", end.position},
          {"token", end.token},
          {"text", tokenizer.token_bytes(end.token, SpecialText::kShow)}};
}

}  // namespace

Json usage_json(std::span<const Usage> choices, int32_t n_per_prompt, const Tokenizer& tokenizer) {
  int64_t n_prompt = 0;
  int64_t n_completion = 0;
  std::optional<int64_t> n_cached;
  std::optional<PrefixEnd> first_end;
  for (size_t i = 0; i < choices.size(); ++i) {
    n_completion += choices[i].completion_tokens;
    if (i % static_cast<size_t>(n_per_prompt) != 0) continue;
    n_prompt += choices[i].prompt_tokens;
    if (choices[i].cached_tokens) n_cached = n_cached.value_or(0) + *choices[i].cached_tokens;
    if (!first_end) first_end = choices[i].prefix_end;
  }
  Json usage = {
      {"prompt_tokens", n_prompt}, {"completion_tokens", n_completion}, {"total_tokens", n_prompt + n_completion}};
  if (n_cached) usage["prompt_tokens_details"] = {{"cached_tokens", *n_cached}};
  if (first_end) usage["prompt_tokens_details"]["cache_miss"] = miss_json(*first_end, tokenizer);
  return usage;
}

Json timings_json(const Usage& usage) {
  Json timings = Json::object();
  timings["queue_ms"] = usage.queue_ms;
  if (usage.cached_tokens) timings["cache_n"] = *usage.cached_tokens;
  add_speed(timings, "prompt", usage.prompt_tokens - usage.cached_tokens.value_or(0), usage.prefill_ms);
  // The first token is the prompt's: the rest took decode_ms.
  add_speed(timings, "predicted", usage.completion_tokens, usage.decode_ms);
  if (usage.time_to_first_token_ms) timings["time_to_first_token_ms"] = *usage.time_to_first_token_ms;
  return timings;
}

}  // namespace ferrox
