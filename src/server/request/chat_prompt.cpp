// How does a conversation become token ids, with no control token in what its speakers wrote?
#include "server/request/chat_prompt.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "server/request/ignored_header.h"

namespace ferrox {
namespace {

constexpr std::array<std::string_view, 2> kReadOfMessages = {"role", "content"};
constexpr std::array<std::string_view, 2> kReadOfParts = {"type", "text"};
/// Known to clients; whether they have an effect is the template's matter.
constexpr std::array<std::string_view, 10> kMessageFields = {
    "name",          "refusal",     "tool_calls",        "tool_call_id", "function_call",
    "cache_control", "annotations", "reasoning_content", "reasoning",    "thinking"};

/// Only the template's own pieces may spell control tokens.
std::vector<int32_t> encode_rendered(const Rendered& rendered, const Tokenizer& tokenizer) {
  std::vector<TextSegment> segments;
  for (const PromptSegment& piece : rendered.segments()) {
    segments.push_back({piece.text, piece.is_template ? SpecialTokens::kParse : SpecialTokens::kAsText});
  }
  return tokenizer.add_bos(tokenizer.encode(segments));
}

/// Variables that the template never reads have no effect, and are told so.
std::vector<std::string> unread_variables(const Json& variables, const ChatTemplate& chat_template) {
  std::vector<std::string> unread;
  for (const auto& [name, value] : variables.items()) {
    if (!chat_template.mentions(name)) unread.push_back(name);
  }
  return unread;
}

/// What messages, or the parts of their contents, say beyond role and text.
struct FurtherMember {
  bool is_of_part;
  std::string name;

  bool operator==(const FurtherMember&) const = default;
  std::string path() const { return (is_of_part ? "messages[].content[]." : "messages[].") + name; }
};

/// Calls `use(object, is_of_part)` for each message and each part of one.
template <class Messages, class Use>
void for_each_object(Messages& messages, const Use& use) {
  for (auto& message : messages) {
    use(message, false);
    const auto content = message.find("content");
    if (content == message.end() || !content->is_array()) continue;
    for (auto& part : *content) use(part, true);
  }
}

/// Each once, whatever message it stands in.
std::vector<FurtherMember> further_members(const Json& messages) {
  std::vector<FurtherMember> members;
  for_each_object(messages, [&](const Json& object, bool is_of_part) {
    const auto& known = is_of_part ? kReadOfParts : kReadOfMessages;
    for (const auto& [name, value] : object.items()) {
      const bool says_nothing = value.is_null() || (value.is_array() && value.empty());
      if (says_nothing || std::find(known.begin(), known.end(), name) != known.end()) continue;
      FurtherMember member{is_of_part, name};
      if (std::find(members.begin(), members.end(), member) == members.end()) members.push_back(std::move(member));
    }
  });
  return members;
}

/// Is the prompt another one without this member? `text` is the whole prompt.
bool has_effect(const FurtherMember& member, const ChatTemplate& chat_template, ChatInput input,
                const std::string& text) {
  if (!chat_template.mentions(member.name)) return false;
  for_each_object(input.messages, [&](Json& object, bool is_of_part) {
    if (is_of_part == member.is_of_part) object.erase(member.name);
  });
  const auto without = chat_template.render(input);
  return !without || without->rendered.text() != text;
}

/// A template decides what of a message has an effect beside its role and its text.
ApiResult<void> pass_over_idle_members(const ChatTemplate& chat_template, const ChatInput& input,
                                       const std::string& text, GenerationParams& params) {
  for (const FurtherMember& member : further_members(input.messages)) {
    if (has_effect(member, chat_template, input, text)) continue;
    if (std::find(kMessageFields.begin(), kMessageFields.end(), member.name) != kMessageFields.end()) {
      params.ignored.push_back(member.path());
    } else {
      TRY(pass_over(member.path(), params));
    }
  }
  return {};
}

}  // namespace

ApiResult<EncodedChat> encode_chat(const ChatInput& input, const Engine& engine, GenerationParams& params) {
  const ChatTemplate& chat_template = engine.chat_template();
  const auto prompt = chat_template.render(input);
  if (!prompt) return invalid_request("messages", "chat template: " + prompt.error().message);
  TRY(pass_over_idle_members(chat_template, input, prompt->rendered.text(), params));
  const auto unread = unread_variables(input.variables, chat_template);
  params.ignored.insert(params.ignored.end(), unread.begin(), unread.end());
  return EncodedChat{encode_rendered(prompt->rendered, engine.tokenizer()), prompt->adjustments};
}

void add_chat_headers(const EncodedChat& chat, const GenerationParams& params, std::vector<HttpHeader>& headers) {
  add_ignored_header(params.ignored, headers);
  if (!chat.adjustments.empty()) headers.push_back({"x-ferrox-adapted", header_list(chat.adjustments)});
}

}  // namespace ferrox
