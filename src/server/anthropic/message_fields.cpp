// Which values do the fields of a message take?
#include "server/anthropic/message_fields.h"

#include "server/anthropic/content_blocks.h"
#include "server/request/shared_fields.h"
#include "server/schema/array_fields.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

using M = MessageRequest;

constexpr size_t kMaxStopSequences = 16;
constexpr FieldRange kStopSequenceBytes{1, 1024};

bool has_nothing(const Json& value) { return (value.is_array() || value.is_object()) && value.empty(); }

bool is_of_type(const Json& value, const char* type) {
  return value.is_object() && value.value("type", Json()) == type;
}

/// Without tools there is nothing to choose.
bool chooses_no_tool(const Json& value) { return is_of_type(value, "none") || is_of_type(value, "auto"); }

bool thinks_nothing(const Json& value) { return is_of_type(value, "disabled"); }

ApiResult<void> read_stop_sequences(const Json& value, M& m) {
  TRY_ASSIGN(m.request.stop, read_strings("stop_sequences", value, kMaxStopSequences, kStopSequenceBytes));
  return {};
}

Json stop_sequences_schema() { return strings_schema(kMaxStopSequences, kStopSequenceBytes); }

const Field<M> kPromptFields[] = {
    {"model", [](M& m) -> std::string& { return m.model; }, {0, 1024}, "any name; the answer carries the real one"},
    {"messages",
     Structured<M>{read_message_list, message_list_schema},
     {},
     "the conversation: role and content, text or text blocks; the last message is the user's",
     Presence::kRequired},
    {"system", Structured<M>{read_system, content_schema}, {}, "the system prompt: text or text blocks"},
    {"tools", Refused{has_nothing}, {}, "not served: tool use"},
    {"tool_choice", Refused{chooses_no_tool}, {}, "not served: tool use"},
    {"thinking", Refused{thinks_nothing}, {}, "not served: thinking"},
    {"mcp_servers", Refused{has_nothing}, {}, "not served: tool use"},
    {"context_management", Refused{has_nothing}, {}, "not served: edits of the conversation"},
    {"output_config", Refused{has_nothing}, {}, "not served: constrained answers"},
    {"output_format", Refused{}, {}, "not served: constrained answers"},
    {"cache_control", Inert{}, {}, "accepted: prefixes are cached without being asked"},
};

const Field<M> kAnswerFields[] = {
    {"max_tokens",
     [](M& m) -> std::optional<int64_t>& { return m.request.max_tokens; },
     {1, std::numeric_limits<int32_t>::max()},
     "most tokens of the answer",
     Presence::kRequired},
    {"stop_sequences",
     Structured<M>{read_stop_sequences, stop_sequences_schema},
     {},
     "texts that end the answer; the one that did is its stop_sequence"},
    {"stream", [](M& m) -> bool& { return m.stream; }, {}, "answer as server-sent events"},
    {"temperature", [](M& m) -> float& { return m.request.sampling.temperature; }, kUnit, "0: always the likeliest"},
    {"top_p", [](M& m) -> float& { return m.request.sampling.top_p; }, kUnit, "nucleus sampling; 1: off"},
    {"top_k", [](M& m) -> int32_t& { return m.request.sampling.top_k; }, kCount, "the K most likely; 0: off"},
    {"seed",
     Structured<M>{[](const Json& v, M& m) { return read_seed(v, m); }, seed_schema},
     {},
     "the same seed gives the same text; -1: a random one"},
    {"timeout",
     Structured<M>{[](const Json& v, M& m) { return read_timeout(v, m); }, timeout_schema},
     {},
     "most seconds to wait for admission"},
    {"cache_prompt",
     [](M& m) -> bool& { return m.request.use_prefix_cache; },
     {},
     "false: compute all of the prompt, and leave nothing of it to others"},
    {"cache_salt", [](M& m) -> std::string& { return m.request.cache_space; }, kSaltBytes,
     "share cached prefixes with requests of the same salt alone"},
    {"container", Refused{}, {}, "not served: code execution"},
    {"metadata", Inert{}, {}, "accepted"},
    {"service_tier", Inert{}, {}, "accepted"},
    {"inference_geo", Inert{}, {}, "accepted"},
    {"speed", Inert{}, {}, "accepted"},
};

}  // namespace

std::span<const Field<MessageRequest>> message_prompt_fields() { return kPromptFields; }

std::span<const Field<MessageRequest>> message_answer_fields() { return kAnswerFields; }

BodyDescription describe_message(MessageUse use) {
  const FieldGroup prompt{"MessagePromptFields", "what makes the prompt of a message",
                          describe_fields(message_prompt_fields())};
  FieldGroup answer{"MessageAnswerFields", "what shapes the answer to a message",
                    describe_fields(message_answer_fields())};
  if (use == MessageUse::kAnswer) return {"MessageRequest", {prompt, answer}};
  answer.name = "MessageAnswerFieldsOfCount";
  answer.doc = "what would shape an answer: checked, and without effect where a prompt is counted";
  for (FieldDescription& field : answer.fields) {
    if (field.standing == Standing::kServed) field.standing = Standing::kIgnored;
    field.is_required = false;
    field.schema.erase("default");
  }
  return {"MessageCountRequest", {prompt, answer}};
}

}  // namespace ferrox
