// How are seeds, biases and choices laid out?
#include "server/openai/prompt_building.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace ferrox {
namespace {

constexpr size_t kMaxHeaderListBytes = 1024;

/// Small enough for a client whose numbers are doubles to send it back.
uint64_t random_seed() {
  static thread_local std::random_device source;
  return source();
}

char harmless(char c) {
  const bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_alphanumeric || std::string_view("_.-[]").find(c) != std::string_view::npos ? c : '?';
}

}  // namespace

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
  const uint64_t first_seed = params.seed ? *params.seed : random_seed();
  PreparedAnswer prepared;
  prepared.n_per_prompt = params.n;
  prepared.stream = params.stream;
  prepared.include_usage = params.include_usage;
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

std::string header_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    if (list.size() + name.size() > kMaxHeaderListBytes) return list + (list.empty() ? "..." : ", ...");
    if (!list.empty()) list += ", ";
    std::transform(name.begin(), name.end(), std::back_inserter(list), harmless);
  }
  return list;
}

void add_ignored_header(const std::vector<std::string>& names, std::vector<HttpHeader>& headers) {
  if (!names.empty()) headers.push_back({"x-ferrox-ignored", header_list(names)});
}

}  // namespace ferrox
