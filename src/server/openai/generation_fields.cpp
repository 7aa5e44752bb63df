// Which fields do both completion endpoints take, in which ranges?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "server/openai/generation_params.h"

namespace ferrox {
namespace {

using P = GenerationParams;

constexpr size_t kMaxStops = 16;
constexpr FieldRange kStopBytes{1, 1024};
constexpr size_t kMaxTokenList = 4096;
constexpr size_t kMaxBreakers = 64;
constexpr FieldRange kTokenId{0, std::numeric_limits<int32_t>::max()};
constexpr FieldRange kBias{-100, 100};

ApiResult<std::vector<std::string>> read_strings(const char* name, const Json& value, size_t max, FieldRange bytes) {
  if (!value.is_array()) return wrong_value(name, "an array of strings", value);
  if (value.size() > max) {
    return invalid_request(name, fmt::format("{}: expected at most {} strings, found {}", name, max, value.size()));
  }
  std::vector<std::string> out;
  for (const Json& item : value) {
    TRY_ASSIGN(out.emplace_back(), read_string(name, item, bytes));
  }
  return out;
}

ApiResult<std::vector<int32_t>> read_token_ids(const char* name, const Json& value) {
  if (!value.is_array() || value.size() > kMaxTokenList) {
    return wrong_value(name, fmt::format("an array of at most {} token ids", kMaxTokenList), value);
  }
  std::vector<int32_t> out;
  for (const Json& item : value) {
    TRY_ASSIGN(const int64_t id, read_integer(name, item, kTokenId));
    out.push_back(static_cast<int32_t>(id));
  }
  return out;
}

/// -1: all that is left of the context. 0 would be a request for nothing.
ApiResult<void> read_max_tokens(const char* name, const Json& value, P& params) {
  TRY_ASSIGN(const int64_t limit, read_integer(name, value, kCountOrAll));
  if (limit == 0) return wrong_value(name, "an integer of 1 or more, or -1 for the rest of the context", value);
  if (params.request.max_tokens && *params.request.max_tokens != limit) {
    return invalid_request(
        name, fmt::format("{}: another limit of {} was given beside it", name, *params.request.max_tokens));
  }
  params.request.max_tokens = limit;
  return {};
}

ApiResult<void> read_stop(const Json& value, P& params) {
  if (value.is_string()) {
    params.request.stop.clear();
    if (value.get_ref<const std::string&>().empty()) return {};
    TRY_ASSIGN(params.request.stop.emplace_back(), read_string("stop", value, kStopBytes));
    return {};
  }
  TRY_ASSIGN(params.request.stop, read_strings("stop", value, kMaxStops, kStopBytes));
  return {};
}

ApiResult<void> read_seed(const Json& value, P& params) {
  if (value.is_number_unsigned()) {
    params.seed = value.get<uint64_t>();
    return {};
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  TRY_ASSIGN(const int64_t seed, read_integer("seed", value, {-kExact, kExact}));
  if (seed != -1) params.seed = static_cast<uint64_t>(seed);  // -1 asks for a random one
  return {};
}

ApiResult<void> read_stream_options(const Json& value, P& params) {
  if (!value.is_object()) return wrong_value("stream_options", "an object", value);
  if (const auto found = value.find("include_usage"); found != value.end() && !found->is_null()) {
    TRY_ASSIGN(params.include_usage, read_boolean("stream_options.include_usage", *found));
  }
  return {};
}

struct SamplerName {
  std::string_view name;
  SamplerKind kind;
};
constexpr std::array kSamplerNames = {
    SamplerName{"penalties", SamplerKind::kPenalties},
    SamplerName{"dry", SamplerKind::kDry},
    SamplerName{"top_n_sigma", SamplerKind::kTopNSigma},
    SamplerName{"top_k", SamplerKind::kTopK},
    SamplerName{"typ_p", SamplerKind::kTypical},
    SamplerName{"typical_p", SamplerKind::kTypical},
    SamplerName{"top_p", SamplerKind::kTopP},
    SamplerName{"min_p", SamplerKind::kMinP},
    SamplerName{"xtc", SamplerKind::kXtc},
    SamplerName{"temperature", SamplerKind::kTemperature},
};

ApiResult<void> read_samplers(const Json& value, P& params) {
  TRY_ASSIGN(const auto names, read_strings("samplers", value, kSamplerNames.size(), {1, 32}));
  params.request.sampling.order.clear();
  for (const std::string& name : names) {
    const auto found = std::find_if(kSamplerNames.begin(), kSamplerNames.end(),
                                    [&](const SamplerName& row) { return row.name == name; });
    if (found == kSamplerNames.end()) {
      return wrong_value("samplers", "penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, xtc or temperature",
                         name);
    }
    params.request.sampling.order.push_back(found->kind);
  }
  return {};
}

/// false bans, a number is added.
ApiResult<float> read_bias(const Json& value) {
  if (value.is_boolean() && !value.get<bool>()) return -std::numeric_limits<float>::infinity();
  TRY_ASSIGN(const double bias, read_number("logit_bias", value, kBias));
  return static_cast<float>(bias);
}

/// A key of the object form: digits are a token id, all else is text.
std::variant<int32_t, std::string> bias_target(const std::string& key) {
  int32_t id = 0;
  const char* const end = key.data() + key.size();
  const auto parsed = std::from_chars(key.data(), end, id);
  if (parsed.ec == std::errc() && parsed.ptr == end && id >= 0) return id;
  return key;
}

ApiResult<BiasEntry> read_bias_pair(const Json& pair) {
  if (!pair.is_array() || pair.size() != 2) return wrong_value("logit_bias", "pairs [token id or text, bias]", pair);
  TRY_ASSIGN(const float bias, read_bias(pair[1]));
  if (pair[0].is_string()) return BiasEntry{pair[0].get<std::string>(), bias};
  TRY_ASSIGN(const int64_t id, read_integer("logit_bias", pair[0], kTokenId));
  return BiasEntry{static_cast<int32_t>(id), bias};
}

ApiResult<void> read_logit_bias(const Json& value, P& params) {
  if (!value.is_object() && !value.is_array())
    return wrong_value("logit_bias", "an object or an array of pairs", value);
  if (value.size() > kMaxTokenList) {
    return invalid_request("logit_bias", fmt::format("logit_bias: expected at most {} entries", kMaxTokenList));
  }
  params.logit_bias.clear();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      TRY_ASSIGN(BiasEntry entry, read_bias_pair(item));
      params.logit_bias.push_back(std::move(entry));
    } else {
      TRY_ASSIGN(const float bias, read_bias(item));
      params.logit_bias.push_back({bias_target(key), bias});
    }
  }
  return {};
}

ApiResult<void> read_breakers(const Json& value, P& params) {
  TRY_ASSIGN(params.request.sampling.dry_sequence_breakers,
             read_strings("dry_sequence_breakers", value, kMaxBreakers, {1, 64}));
  return {};
}

ApiResult<void> read_timeout(const Json& value, P& params) {
  TRY_ASSIGN(const double seconds, read_number("timeout", value, {0, 86'400}));
  params.request.timeout_ms = static_cast<int64_t>(seconds * 1000);
  return {};
}

constexpr FieldRange kPenalty{-2, 2};
constexpr FieldRange kHundred{0, 100};

const Field<P> kFields[] = {
    {"model", [](P& p) -> std::string& { return p.model; }, {0, 1024}, "any name; the answer carries the real one"},
    {"stream", [](P& p) -> bool& { return p.stream; }, {}, "answer as server-sent events"},
    {"stream_options", read_stream_options, {}, "{include_usage}: a last chunk with the usage"},
    {"n", [](P& p) -> int32_t& { return p.n; }, {1, kMaxChoices}, "choices; choice i samples with seed + i"},
    {"max_tokens",
     [](const Json& v, P& p) { return read_max_tokens("max_tokens", v, p); },
     {},
     "most tokens of an answer; -1: the rest of the context"},
    {"max_completion_tokens",
     [](const Json& v, P& p) { return read_max_tokens("max_completion_tokens", v, p); },
     {},
     "the same as max_tokens"},
    {"n_predict", [](const Json& v, P& p) { return read_max_tokens("n_predict", v, p); }, {}, "the same as max_tokens"},
    {"min_tokens", [](P& p) -> int64_t& { return p.request.sampling.min_tokens; }, kCount,
     "no end of generation before this many tokens"},
    {"stop", read_stop, {}, "a string or up to 16 that end the answer"},
    {"stop_token_ids",
     [](const Json& v, P& p) -> ApiResult<void> {
       TRY_ASSIGN(p.request.stop_tokens, read_token_ids("stop_token_ids", v));
       return {};
     },
     {},
     "tokens that end the answer"},
    {"include_stop_str_in_output",
     [](P& p) -> bool& { return p.request.include_stop; },
     {},
     "keep the stop string in the text"},
    {"ignore_eos",
     [](P& p) -> bool& { return p.request.ignore_eos; },
     {},
     "go on past end-of-generation tokens, to the limit"},
    {"seed", read_seed, {}, "of the random draws; absent or -1: a random one, told in the answer"},
    {"timeout", read_timeout, {}, "most seconds to wait for admission"},
    {"temperature", [](P& p) -> float& { return p.request.sampling.temperature; }, kHundred, "0: greedy"},
    {"dynatemp_range", [](P& p) -> float& { return p.request.sampling.dynatemp_range; }, kHundred,
     "temperature varies by this much with the entropy"},
    {"dynatemp_exponent", [](P& p) -> float& { return p.request.sampling.dynatemp_exponent; }, kHundred,
     "how entropy maps to temperature"},
    {"top_k", [](P& p) -> int32_t& { return p.request.sampling.top_k; }, kCountOrAll, "0 or -1: off"},
    {"top_p", [](P& p) -> float& { return p.request.sampling.top_p; }, kUnit, "1: off"},
    {"min_p", [](P& p) -> float& { return p.request.sampling.min_p; }, kUnit, "0: off"},
    {"typical_p", [](P& p) -> float& { return p.request.sampling.typical_p; }, kUnit, "1: off"},
    {"top_n_sigma", [](P& p) -> float& { return p.request.sampling.top_n_sigma; }, {-1, 100}, "0 or less: off"},
    {"xtc_probability", [](P& p) -> float& { return p.request.sampling.xtc_probability; }, kUnit, "0: off"},
    {"xtc_threshold", [](P& p) -> float& { return p.request.sampling.xtc_threshold; }, kUnit, "above 0.5: off"},
    {"repeat_penalty", [](P& p) -> float& { return p.request.sampling.repeat_penalty; }, {0.01, 100}, "1: off"},
    {"repetition_penalty",
     [](P& p) -> float& { return p.request.sampling.repeat_penalty; },
     {0.01, 100},
     "the same as repeat_penalty"},
    {"presence_penalty", [](P& p) -> float& { return p.request.sampling.presence_penalty; }, kPenalty, "0: off"},
    {"frequency_penalty", [](P& p) -> float& { return p.request.sampling.frequency_penalty; }, kPenalty, "0: off"},
    {"repeat_last_n", [](P& p) -> int32_t& { return p.request.sampling.repeat_last_n; }, kCountOrAll,
     "tokens that penalties look at; -1: all"},
    {"dry_multiplier", [](P& p) -> float& { return p.request.sampling.dry_multiplier; }, kHundred, "0: off"},
    {"dry_base", [](P& p) -> float& { return p.request.sampling.dry_base; }, kHundred, "growth of the penalty"},
    {"dry_allowed_length", [](P& p) -> int32_t& { return p.request.sampling.dry_allowed_length; }, kCount,
     "repeats up to this length are free"},
    {"dry_penalty_last_n", [](P& p) -> int32_t& { return p.request.sampling.dry_penalty_last_n; }, kCountOrAll,
     "tokens that are searched for repeats; -1: all"},
    {"dry_sequence_breakers", read_breakers, {}, "strings that a repeat doesn't reach across"},
    {"mirostat", [](P& p) -> int32_t& { return p.request.sampling.mirostat; }, {0, 2}, "0: off, or version 1 or 2"},
    {"mirostat_tau", [](P& p) -> float& { return p.request.sampling.mirostat_tau; }, kHundred, "target surprise"},
    {"mirostat_eta", [](P& p) -> float& { return p.request.sampling.mirostat_eta; }, kUnit, "learning rate"},
    {"min_keep", [](P& p) -> int32_t& { return p.request.sampling.min_keep; }, kCount, "fewest candidates to keep"},
    {"samplers", read_samplers, {}, "the chain, in order"},
    {"logit_bias", read_logit_bias, {}, "{token id or text: bias} or pairs; false bans"},
    {"allowed_token_ids",
     [](const Json& v, P& p) -> ApiResult<void> {
       TRY_ASSIGN(p.request.sampling.allowed_tokens, read_token_ids("allowed_token_ids", v));
       return {};
     },
     {},
     "nothing else may be sampled"},
    {"post_sampling_probs",
     [](P& p) -> bool& { return p.request.sampling.post_sampling_logprobs; },
     {},
     "logprobs of the distribution after the samplers"},
    {"grammar", Refused{}, {}, "not served: constrained answers"},
    {"json_schema", Refused{}, {}, "not served: constrained answers"},
    {"structured_outputs", Refused{}, {}, "not served: constrained answers"},
    {"guided_json", Refused{}, {}, "not served: constrained answers"},
    {"guided_regex", Refused{}, {}, "not served: constrained answers"},
    {"guided_choice", Refused{}, {}, "not served: constrained answers"},
    {"guided_grammar", Refused{}, {}, "not served: constrained answers"},
    {"lora", Refused{[](const Json& v) { return v.empty(); }}, {}, "not served: adapters"},
    {"user", Inert{}, {}, "accepted"},
    {"metadata", Inert{}, {}, "accepted"},
    {"safety_identifier", Inert{}, {}, "accepted"},
    {"service_tier", Inert{}, {}, "accepted"},
    {"prompt_cache_key", Inert{}, {}, "accepted"},
    {"cache_prompt", Inert{}, {}, "accepted"},
};

}  // namespace

std::span<const Field<GenerationParams>> generation_fields() { return kFields; }

}  // namespace ferrox
