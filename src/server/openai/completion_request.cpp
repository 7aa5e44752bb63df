// Which fields does a completion have of its own, and how are its prompts read?
#include "server/openai/completion_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/openai/prompt_building.h"
#include "server/openai/structured_fields.h"
#include "server/request/ignored_header.h"
#include "server/schema/array_fields.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

using Prompt = std::variant<std::string, std::vector<int32_t>>;

bool is_token_list(const Json& value) { return value.is_array() && !value.empty() && value.front().is_number(); }

ApiResult<Prompt> read_prompt(const Json& value) {
  if (value.is_string()) return Prompt(value.get<std::string>());
  if (!is_token_list(value)) return wrong_value("prompt", "a string, token ids, or an array of these", value);
  std::vector<int32_t> ids;
  ids.reserve(value.size());
  for (const Json& item : value) {
    TRY_ASSIGN(const int64_t id, read_integer("prompt", item, kTokenId));
    ids.push_back(static_cast<int32_t>(id));
  }
  return Prompt(std::move(ids));
}

ApiResult<void> read_prompts(const Json& value, CompletionRequest& request) {
  request.prompts.clear();
  if (!value.is_array() || is_token_list(value)) {
    TRY_ASSIGN(request.prompts.emplace_back(), read_prompt(value));
    return {};
  }
  if (value.empty() || value.size() > kMaxChoices) {
    return invalid_request("prompt",
                           fmt::format("prompt: expected 1 to {} prompts, found {}", kMaxChoices, value.size()));
  }
  for (const Json& item : value) {
    TRY_ASSIGN(request.prompts.emplace_back(), read_prompt(item));
  }
  return {};
}

Json prompts_schema() {
  const Json text = {{"type", "string"}};
  const Json ids = {{"type", "array"}, {"items", integer_schema(kTokenId)}, {"minItems", 1}};
  return any_of({text, ids, array_schema(any_of({text, ids}), {1, kMaxChoices})});
}

constexpr FieldRange kTopLogprobs{0, kMaxTopLogprobs};

ApiResult<void> read_logprobs(const Json& value, CompletionRequest& request) {
  if (value.is_boolean() && !value.get<bool>()) return {};
  TRY_ASSIGN(const int64_t n, read_integer("logprobs", value, kTopLogprobs));
  request.request.sampling.n_logprobs = static_cast<int32_t>(n);
  return {};
}

Json logprobs_schema() { return any_of({integer_schema(kTopLogprobs), {{"const", false}}}); }

const Field<CompletionRequest> kCompletionFields[] = {
    {"prompt",
     Structured<CompletionRequest>{read_prompts, prompts_schema},
     {},
     "a string, token ids, or an array of these: one answer each",
     Presence::kRequired},
    {"echo", [](CompletionRequest& c) -> bool& { return c.echo; }, {}, "the prompt stands in front of the answer"},
    {"logprobs",
     Structured<CompletionRequest>{read_logprobs, logprobs_schema},
     {},
     "the token's log-probability and those of the N most likely"},
    {"parse_special",
     [](CompletionRequest& c) -> bool& { return c.parse_special; },
     {},
     "control tokens may be spelled in a prompt"},
    {"add_special_tokens",
     [](CompletionRequest& c) -> bool& { return c.add_special_tokens; },
     {},
     "BOS in front of a text prompt"},
    {"suffix", Refused{[](const Json& v) { return v == ""; }}, {}, "not served: infilling"},
    {"best_of",
     [](CompletionRequest& c) -> int32_t& { return c.best_of; },
     {1, kMaxChoices},
     "candidates of each prompt, of which the n most likely are told; all count as usage; not with stream"},
    {"prompt_logprobs", Refused{[](const Json& v) { return v == false; }}, {}, "not served"},
};

/// As many candidates as answers, where nothing else is asked for.
ApiResult<void> check_candidates(CompletionRequest& request) {
  if (request.best_of == 0) request.best_of = request.n;
  if (request.best_of < request.n) {
    return invalid_request("best_of",
                           fmt::format("best_of: expected at least n ({}), found {}", request.n, request.best_of));
  }
  if (request.stream && request.best_of > request.n) {
    return invalid_request("best_of", fmt::format("best_of: expected n ({}) with stream, found {}: the best is known "
                                                  "at the end",
                                                  request.n, request.best_of));
  }
  return {};
}

/// The parameters of all candidates, scored where not all are told.
GenerationParams candidates_of(const CompletionRequest& request) {
  GenerationParams params = request;
  params.n = request.best_of;
  int32_t& n_logprobs = params.request.sampling.n_logprobs;
  if (request.best_of > request.n) n_logprobs = std::max(n_logprobs, 0);
  return params;
}

std::vector<int32_t> encode_prompt(const Prompt& prompt, const CompletionRequest& request, const Tokenizer& tokenizer) {
  if (const auto* ids = std::get_if<std::vector<int32_t>>(&prompt)) return *ids;
  const auto special = request.parse_special ? SpecialTokens::kParse : SpecialTokens::kAsText;
  auto ids = tokenizer.encode(std::get<std::string>(prompt), special);
  return request.add_special_tokens ? tokenizer.add_bos(std::move(ids)) : ids;
}

ApiResult<std::string> echo_of(const Prompt& prompt, const Tokenizer& tokenizer) {
  if (const auto* text = std::get_if<std::string>(&prompt)) return *text;
  const auto decoded = tokenizer.decode(std::get<std::vector<int32_t>>(prompt), SpecialText::kShow);
  if (!decoded) return invalid_request("prompt", "prompt: " + decoded.error().message);
  return *decoded;
}

}  // namespace

BodyDescription describe_completion() {
  const FieldGroup own{"CompletionFields", "what only completions have",
                       describe_fields<CompletionRequest>(kCompletionFields)};
  return {"CompletionRequest", {own, describe_generation()}};
}

ApiResult<ParsedCompletion> parse_completion(std::string_view body, UnknownFields unknown) {
  const auto json = parse_json(body);
  if (!json) return invalid_request("", json.error().message);
  ParsedCompletion parsed;
  TRY(read_fields<CompletionRequest>(*json, kCompletionFields, unknown, parsed.request));
  list_idle_options(*json, parsed.request);
  TRY(check_candidates(parsed.request));
  if (parsed.request.echo && parsed.request.request.sampling.n_logprobs >= 0) {
    return unsupported("echo", "echo: log-probabilities of the prompt aren't served; leave echo or logprobs out");
  }
  return parsed;
}

ApiResult<PreparedAnswer> prepare_completion(const ParsedCompletion& parsed, const Tokenizer& tokenizer) {
  const CompletionRequest& request = parsed.request;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::string> echoes;
  for (const auto& prompt : request.prompts) {
    prompts.push_back(encode_prompt(prompt, request, tokenizer));
    std::string echo;
    if (request.echo) {
      TRY_ASSIGN(echo, echo_of(prompt, tokenizer));
    }
    echoes.insert(echoes.end(), static_cast<size_t>(request.n), echo);
  }
  TRY_ASSIGN(PreparedAnswer prepared, prepare_answer(candidates_of(request), std::move(prompts), tokenizer));
  prepared.n_told = request.n;
  prepared.logprobs = request.request.sampling.n_logprobs >= 0;
  add_ignored_header(request.ignored, prepared.headers);
  const auto logprobs = prepared.logprobs ? Logprobs::kTold : Logprobs::kNone;
  prepared.shape = make_completion_shape(tokenizer, logprobs, std::move(echoes));
  return prepared;
}

}  // namespace ferrox
