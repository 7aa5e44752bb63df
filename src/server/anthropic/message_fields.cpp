// Which values do the fields of a message take?
#include "server/anthropic/message_fields.h"

#include "server/anthropic/content_blocks.h"
#include "server/request/shared_fields.h"
#include "server/schema/array_fields.h"

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

const Field<M> kPromptFields[] = {
    {"model", [](M& m) -> std::string& { return m.model; }, {0, 1024}, "any name; the answer carries the real one"},
    {"messages", read_message_list, {}, "the conversation: role (user, assistant) and content, text or text blocks"},
    {"system", read_system, {}, "the system prompt: text or text blocks"},
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
     "most tokens of the answer; required"},
    {"stop_sequences", read_stop_sequences, {}, "up to 16 strings that end the answer"},
    {"stream", [](M& m) -> bool& { return m.stream; }, {}, "answer as server-sent events"},
    {"temperature", [](M& m) -> float& { return m.request.sampling.temperature; }, kUnit, "0: always the likeliest"},
    {"top_p", [](M& m) -> float& { return m.request.sampling.top_p; }, kUnit, "nucleus sampling; 1: off"},
    {"top_k", [](M& m) -> int32_t& { return m.request.sampling.top_k; }, kCount, "the K most likely; 0: off"},
    {"seed",
     [](const Json& v, M& m) { return read_seed(v, m); },
     {},
     "the same seed gives the same text; -1: a random one"},
    {"timeout", [](const Json& v, M& m) { return read_timeout(v, m); }, {}, "most seconds to wait for admission"},
    {"cache_prompt",
     [](M& m) -> bool& { return m.request.use_prefix_cache; },
     {},
     "false: compute all of the prompt, and leave nothing of it to others"},
    {"cache_salt",
     [](M& m) -> std::string& { return m.request.cache_space; },
     {0, 64},
     "share cached prefixes with requests of the same salt alone; up to 64 bytes"},
    {"container", Refused{}, {}, "not served: code execution"},
    {"metadata", Inert{}, {}, "accepted"},
    {"service_tier", Inert{}, {}, "accepted"},
    {"inference_geo", Inert{}, {}, "accepted"},
    {"speed", Inert{}, {}, "accepted"},
};

}  // namespace

std::span<const Field<MessageRequest>> message_prompt_fields() { return kPromptFields; }

std::span<const Field<MessageRequest>> message_answer_fields() { return kAnswerFields; }

}  // namespace ferrox
