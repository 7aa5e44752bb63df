// Which fields do both completion endpoints take, in which ranges?
#include "server/openai/generation_fields.h"

#include "server/keys/api_key.h"
#include "server/openai/structured_fields.h"
#include "server/request/shared_fields.h"
#include "server/schema/array_fields.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

using P = GenerationParams;

constexpr FieldRange kPenalty{-2, 2};
constexpr FieldRange kHundred{0, 100};

const Field<P> kFields[] = {
    {"model", [](P& p) -> std::string& { return p.model; }, {0, 1024}, "any name; the answer carries the real one"},
    {"stream", [](P& p) -> bool& { return p.stream; }, {}, "answer as server-sent events"},
    {"stream_options",
     Structured<P>{read_stream_options, stream_options_schema},
     {},
     "{include_usage}: a last chunk with the usage"},
    {"n",
     [](P& p) -> int32_t& { return p.n; },
     {1, kMaxChoices},
     "choices; choice i samples with seed + i; the prompt is computed once for all"},
    {"max_tokens",
     Structured<P>{[](const Json& v, P& p) { return read_max_tokens("max_tokens", v, p); }, max_tokens_schema},
     {},
     "most tokens of an answer; -1: the rest of the context"},
    {"max_completion_tokens",
     Structured<P>{[](const Json& v, P& p) { return read_max_tokens("max_completion_tokens", v, p); },
                   max_tokens_schema},
     {},
     "the same as max_tokens"},
    {"n_predict",
     Structured<P>{[](const Json& v, P& p) { return read_max_tokens("n_predict", v, p); }, max_tokens_schema},
     {},
     "the same as max_tokens"},
    {"min_tokens", [](P& p) -> int64_t& { return p.request.sampling.min_tokens; }, kCount,
     "no end of generation before this many tokens"},
    {"stop", Structured<P>{read_stop, stop_schema}, {}, "a string or up to 16 that end the answer"},
    {"stop_token_ids", Structured<P>{read_stop_token_ids, token_ids_schema}, {}, "tokens that end the answer"},
    {"include_stop_str_in_output",
     [](P& p) -> bool& { return p.request.include_stop; },
     {},
     "keep the stop string in the text"},
    {"ignore_eos",
     [](P& p) -> bool& { return p.request.ignore_eos; },
     {},
     "go on past end-of-generation tokens, to the limit"},
    {"seed",
     Structured<P>{read_seed, seed_schema},
     {},
     "of the random draws; absent or -1: a random one, told in the answer"},
    {"priority",
     [](P& p) -> int32_t& { return p.request.priority; },
     {kFirstPriority, kLastPriority},
     "a lower number goes first; how low depends on the key"},
    {"timeout", Structured<P>{read_timeout, timeout_schema}, {}, "most seconds to wait for admission"},
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
    {"dry_sequence_breakers",
     Structured<P>{read_breakers, breakers_schema},
     {},
     "strings that a repeat doesn't reach across"},
    {"mirostat", [](P& p) -> int32_t& { return p.request.sampling.mirostat; }, {0, 2}, "0: off, or version 1 or 2"},
    {"mirostat_tau", [](P& p) -> float& { return p.request.sampling.mirostat_tau; }, kHundred, "target surprise"},
    {"mirostat_eta", [](P& p) -> float& { return p.request.sampling.mirostat_eta; }, kUnit, "learning rate"},
    {"min_keep", [](P& p) -> int32_t& { return p.request.sampling.min_keep; }, kCount, "fewest candidates to keep"},
    {"samplers", Structured<P>{read_samplers, samplers_schema}, {}, "the chain, in order"},
    {"logit_bias",
     Structured<P>{read_logit_bias, logit_bias_schema},
     {},
     "{token id or text: bias} or pairs; false bans, under every penalty"},
    {"allowed_token_ids", Structured<P>{read_allowed_token_ids, token_ids_schema}, {}, "nothing else may be sampled"},
    {"post_sampling_probs",
     [](P& p) -> bool& { return p.request.sampling.post_sampling_logprobs; },
     {},
     "logprobs of the distribution after the samplers"},
    {"response_format",
     Structured<P>{read_response_format, response_format_schema},
     {},
     "text; constrained answers aren't served"},
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
    {"cache_prompt",
     [](P& p) -> bool& { return p.request.use_prefix_cache; },
     {},
     "false: compute all of the prompt, and leave nothing of it to others"},
    {"cache_salt", [](P& p) -> std::string& { return p.request.cache_space; }, kSaltBytes,
     "share cached prefixes with requests of the same salt alone"},
};

}  // namespace

std::span<const Field<GenerationParams>> generation_fields() { return kFields; }

FieldGroup describe_generation() {
  return {"GenerationFields", "what completions and chats have in common", describe_fields(generation_fields())};
}

}  // namespace ferrox
