// How does a conversation become token ids, with no control token in what its speakers wrote?
#include <utility>

#include "server/openai/chat_request.h"
#include "server/openai/prompt_building.h"
#include "text/chat_template.h"

namespace ferrox {
namespace {

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

}  // namespace

ApiResult<PreparedAnswer> prepare_chat(const ParsedChat& parsed, const Engine& engine) {
  const ChatRequest& request = parsed.request;
  ChatInput input;
  input.messages = request.messages;
  input.variables = request.template_variables;
  const auto prompt = engine.chat_template().render(input);
  if (!prompt) return invalid_request("messages", "chat template: " + prompt.error().message);
  TRY_ASSIGN(PreparedAnswer prepared,
             prepare_answer(request, {encode_rendered(prompt->rendered, engine.tokenizer())}, engine.tokenizer()));
  std::vector<std::string> ignored = parsed.ignored;
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
