// How are seeds, biases and choices laid out?
#include "server/openai/prompt_building.h"

#include <fmt/format.h>

#include "server/openai/generation_fields.h"

namespace ferrox {

ApiResult<std::vector<std::pair<int32_t, float>>> resolve_bias(const std::vector<BiasEntry>& entries,
                                                               const Tokenizer& tokenizer) {
  std::vector<std::pair<int32_t, float>> resolved;
  for (const BiasEntry& entry : entries) {
    if (const auto* text = std::get_if<std::string>(&entry.target)) {
      for (const int32_t id : tokenizer.encode(*text, SpecialTokens::kAsText)) resolved.emplace_back(id, entry.bias);
      continue;
    }
    const int32_t id = std::get<int32_t>(entry.target);
    if (!tokenizer.vocabulary().contains(id)) {
      return invalid_request("logit_bias", fmt::format("logit_bias: expected token ids from 0 to {}, found {}",
                                                       tokenizer.vocabulary().size() - 1, id));
    }
    resolved.emplace_back(id, entry.bias);
  }
  return resolved;
}

ApiResult<PreparedAnswer> prepare_answer(const GenerationParams& params, std::vector<std::vector<int32_t>> prompts,
                                         const Tokenizer& tokenizer) {
  const size_t n_choices = prompts.size() * static_cast<size_t>(params.n);
  if (n_choices > kMaxChoices) {
    return invalid_request(
        "n", fmt::format("n: expected at most {} choices of all prompts, found {}", kMaxChoices, n_choices));
  }
  GenerationRequest model = params.request;
  TRY_ASSIGN(model.sampling.logit_bias, resolve_bias(params.logit_bias, tokenizer));
  const uint64_t first_seed = choose_seed(params);
  PreparedAnswer prepared;
  prepared.n_per_prompt = params.n;
  prepared.n_told = params.n;
  prepared.stream = params.stream;
  prepared.include_usage = params.include_usage;
  prepared.is_repeatable = is_repeatable(params);
  prepared.logprobs = model.sampling.n_logprobs >= 0;
  for (std::vector<int32_t>& prompt : prompts) {
    model.prompt = std::move(prompt);
    for (int32_t i = 0; i < params.n; ++i) {
      model.sampling.seed = first_seed + prepared.seeds.size();
      prepared.seeds.push_back(model.sampling.seed);
      prepared.requests.push_back(model);
    }
  }
  return prepared;
}

}  // namespace ferrox
