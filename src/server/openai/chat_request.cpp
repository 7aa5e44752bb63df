// Which fields does a chat have of its own?
#include "server/openai/chat_request.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "server/openai/chat_messages.h"
#include "server/openai/structured_fields.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

/// What the template gets from elsewhere: the conversation, and the vocabulary.
constexpr std::array<std::string_view, 4> kGivenVariables = {"messages", "add_generation_prompt", "bos_token",
                                                             "eos_token"};

constexpr FieldRange kEffortBytes{1, 32};

Json template_variables_schema() { return {{"type", "object"}}; }

Json reasoning_effort_schema() { return string_schema(kEffortBytes); }

bool is_empty(const Json& value) { return value.is_array() && value.empty(); }

/// Without tools there is nothing to choose.
bool chooses_nothing(const Json& value) { return value == "none" || value == "auto"; }

bool is_text_only(const Json& value) { return value.is_array() && value.size() == 1 && value.front() == "text"; }

ApiResult<void> read_messages(const Json& value, ChatRequest& request) {
  TRY(check_messages(value));
  request.messages = value;
  return {};
}

ApiResult<void> read_template_variables(const Json& value, ChatRequest& request) {
  if (!value.is_object()) return wrong_value("chat_template_kwargs", "an object", value);
  for (const auto& [name, variable] : value.items()) {
    const bool is_given = std::find(kGivenVariables.begin(), kGivenVariables.end(), name) != kGivenVariables.end();
    if (is_given) {
      request.ignored.push_back("chat_template_kwargs." + name);
    } else {
      request.template_variables[name] = variable;
    }
  }
  return {};
}

ApiResult<void> read_reasoning_effort(const Json& value, ChatRequest& request) {
  TRY_ASSIGN(const std::string effort, read_string("reasoning_effort", value, kEffortBytes));
  request.template_variables["reasoning_effort"] = effort;
  return {};
}

const Field<ChatRequest> kChatFields[] = {
    {"messages",
     Structured<ChatRequest>{read_messages, messages_schema},
     {},
     "the conversation: role and content, text or text parts",
     Presence::kRequired},
    {"logprobs", [](ChatRequest& c) -> bool& { return c.logprobs; }, {}, "tell each token's log-probability"},
    {"top_logprobs",
     [](ChatRequest& c) -> int32_t& { return c.top_logprobs; },
     {0, kMaxTopLogprobs},
     "and those of the N most likely; needs logprobs"},
    {"chat_template_kwargs",
     Structured<ChatRequest>{read_template_variables, template_variables_schema},
     {},
     "further variables of the chat template"},
    {"reasoning_effort",
     Structured<ChatRequest>{read_reasoning_effort, reasoning_effort_schema},
     {},
     "a variable of the chat template"},
    {"tools", Refused{is_empty}, {}, "not served: tool calls"},
    {"tool_choice", Refused{chooses_nothing}, {}, "not served: tool calls"},
    {"functions", Refused{is_empty}, {}, "not served: tool calls"},
    {"function_call", Refused{chooses_nothing}, {}, "not served: tool calls"},
    {"modalities", Refused{is_text_only}, {}, "not served: anything but text"},
    {"audio", Refused{}, {}, "not served: audio"},
    {"web_search_options", Refused{}, {}, "not served: web search"},
    {"continue_final_message", Refused{[](const Json& v) { return v == false; }}, {}, "not served"},
    {"add_generation_prompt", Refused{[](const Json& v) { return v == true; }}, {}, "an answer always begins a turn"},
    {"parallel_tool_calls", Inert{}, {}, "accepted"},
    {"prediction", Inert{}, {}, "accepted"},
    {"store", Inert{}, {}, "accepted: nothing is stored"},
    {"verbosity", Inert{}, {}, "accepted"},
};

}  // namespace

BodyDescription describe_chat() {
  const FieldGroup own{"ChatFields", "what only chats have", describe_fields<ChatRequest>(kChatFields)};
  return {"ChatRequest", {own, describe_generation()}};
}

ApiResult<ParsedChat> parse_chat(std::string_view body, UnknownFields unknown) {
  const auto json = parse_json(body);
  if (!json) return invalid_request("", json.error().message);
  ParsedChat parsed;
  ChatRequest& request = parsed.request;
  TRY(read_fields<ChatRequest>(*json, kChatFields, unknown, request));
  list_idle_options(*json, request);
  if (request.top_logprobs > 0 && !request.logprobs) {
    return invalid_request("top_logprobs", "top_logprobs: expected logprobs to be true beside it");
  }
  if (request.logprobs) request.request.sampling.n_logprobs = request.top_logprobs;
  return parsed;
}

}  // namespace ferrox
