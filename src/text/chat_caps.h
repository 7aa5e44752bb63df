// What can a chat template take? Found out by rendering tiny conversations, not by reading its source.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>

namespace ferrox {

/// One row per property of a message that templates disagree about. True: it shows up in the prompt, unharmed.
struct ChatCaps {
  bool text_content = true;          ///< content that is a string
  bool part_content = false;         ///< content that is a list of text parts
  bool system_role = false;          ///< a first message of role "system"
  bool developer_role = false;       ///< a first message of role "developer"
  bool tools = false;                ///< definitions in the variable `tools`
  bool tool_calls = false;           ///< an assistant message with `tool_calls`, in some form
  bool object_arguments = false;     ///< their arguments as an object
  bool text_arguments = false;       ///< their arguments as JSON text, not encoded twice
  bool null_content = false;         ///< content null beside tool calls
  bool empty_content = false;        ///< content "" beside tool calls
  bool parallel_tool_calls = false;  ///< two calls in one message
  bool tool_role = false;            ///< messages of role "tool"
};

/// Renders variables; nothing when the template refuses them.
using ProbeRender = std::function<std::optional<std::string>(const nlohmann::ordered_json& variables)>;

ChatCaps probe_chat_caps(const ProbeRender& render);

}  // namespace ferrox
