// How are messages changed so that a template can take them?
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "base/result.h"
#include "text/chat_caps.h"

namespace ferrox {

struct FittedMessages {
  nlohmann::ordered_json messages;
  std::vector<std::string> adjustments;  ///< names of what was changed, each once, in the order of first use
};

/// Changes only what `caps` says the template can't take:
///   content-parts-joined      text parts became one string
///   content-put-in-part       a string became a list of one text part
///   developer-role-as-system  the role was renamed
///   system-message-folded     a system message became the beginning of the next user message
///   arguments-parsed          JSON text of a call's arguments became an object
///   arguments-serialized      an object of arguments became JSON text
///   arguments-kept-as-text    arguments that aren't a JSON object went in as {"raw": text}
///   null-content-emptied      content null beside tool calls became ""
///   empty-content-nulled      and the other way round
/// Errors: kInvalidArgument when messages isn't a list of objects, or a content part isn't text where only text fits.
Result<FittedMessages> fit_messages(const nlohmann::ordered_json& messages, const ChatCaps& caps);

}  // namespace ferrox
