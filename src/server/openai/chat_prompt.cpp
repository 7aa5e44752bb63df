// How does a conversation become token ids, with no control token in what its speakers wrote?
#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "server/openai/chat_request.h"
#include "server/openai/prompt_building.h"
#include "text/chat_template.h"

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

/// What an object of a message says beyond `known`, and nobody reads: each name once, whatever message it stands in.
ApiResult<void> pass_over_unread(const std::string& place, const Json& object, std::span<const std::string_view> known,
                                 const ChatTemplate& chat_template, ChatRequest& request) {
  for (const auto& [name, value] : object.items()) {
    const bool says_nothing = value.is_null() || (value.is_array() && value.empty());
    if (says_nothing || std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (chat_template.mentions(name)) continue;
    std::string path = place + "." + name;
    if (std::find(request.ignored.begin(), request.ignored.end(), path) != request.ignored.end()) continue;
    if (std::find(kMessageFields.begin(), kMessageFields.end(), name) != kMessageFields.end()) {
      request.ignored.push_back(std::move(path));
    } else {
      TRY(pass_over(std::move(path), request));
    }
  }
  return {};
}

/// A template decides what of a message has an effect beside its role and its text.
ApiResult<void> pass_over_unread_messages(const ChatTemplate& chat_template, ChatRequest& request) {
  for (const Json& message : request.messages) {
    TRY(pass_over_unread("messages[]", message, kReadOfMessages, chat_template, request));
    const auto content = message.find("content");
    if (content == message.end() || !content->is_array()) continue;
    for (const Json& part : *content) {
      TRY(pass_over_unread("messages[].content[]", part, kReadOfParts, chat_template, request));
    }
  }
  return {};
}

}  // namespace

ApiResult<PreparedAnswer> prepare_chat(const ParsedChat& parsed, const Engine& engine) {
  ChatRequest request = parsed.request;
  TRY(pass_over_unread_messages(engine.chat_template(), request));
  ChatInput input;
  input.messages = request.messages;
  input.variables = request.template_variables;
  const auto prompt = engine.chat_template().render(input);
  if (!prompt) return invalid_request("messages", "chat template: " + prompt.error().message);
  TRY_ASSIGN(PreparedAnswer prepared,
             prepare_answer(request, {encode_rendered(prompt->rendered, engine.tokenizer())}, engine.tokenizer()));
  std::vector<std::string> ignored = request.ignored;
  const auto unread = unread_variables(request.template_variables, engine.chat_template());
  ignored.insert(ignored.end(), unread.begin(), unread.end());
  add_ignored_header(ignored, prepared.headers);
  if (!prompt->adjustments.empty()) {
    prepared.headers.push_back({"x-ferrox-adapted", header_list(prompt->adjustments)});
  }
  const auto logprobs = prepared.logprobs ? Logprobs::kTold : Logprobs::kNone;
  prepared.shape = make_chat_shape(engine.tokenizer(), logprobs);
  return prepared;
}

}  // namespace ferrox
