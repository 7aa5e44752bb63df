// Which template is used, and with which variables?
#include "text/chat_template.h"

#include <utility>

#include "base/check.h"
#include "text/chat_fit.h"

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kChatMl =
    "{%- for message in messages -%}\n"
    "    {{- '<|im_start|>' ~ message.role ~ '\\n' ~ (message.content or '') ~ '<|im_end|>\\n' -}}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}\n"
    "    {{- '<|im_start|>assistant\\n' -}}\n"
    "{%- endif -%}\n";

RenderOptions options_of(const ChatTokens& tokens, const std::optional<std::tm>& now) {
  RenderOptions options;
  options.now = now;
  options.trusted = {{"bos_token", tokens.bos}, {"eos_token", tokens.eos}};
  return options;
}

Json variables_of(const ChatInput& input, const Json& messages) {
  Json variables = input.variables.is_object() ? input.variables : Json::object();
  variables["messages"] = messages;
  variables["add_generation_prompt"] = input.generation_prompt == GenerationPrompt::kAdd;
  if (!input.tools.is_null()) variables["tools"] = input.tools;
  return variables;
}

}  // namespace

ChatTemplate::ChatTemplate(JinjaTemplate parsed, std::string source, ChatTokens tokens)
    : parsed_(std::move(parsed)), source_(std::move(source)), tokens_(std::move(tokens)) {
  const RenderOptions options = options_of(tokens_, std::nullopt);
  caps_ = probe_chat_caps([this, &options](const Json& variables) -> std::optional<std::string> {
    const auto rendered = parsed_.render(variables, options);
    return rendered ? std::optional(rendered->text()) : std::nullopt;
  });
}

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, ChatTokens tokens) {
  TRY_ASSIGN(auto parsed, JinjaTemplate::parse(source));
  return ChatTemplate(std::move(parsed), std::string(source), std::move(tokens));
}

ChatTemplate ChatTemplate::chatml(ChatTokens tokens) {
  auto made = parse(kChatMl, std::move(tokens));
  CHECK(made.has_value(), "the built-in template parses");
  made->built_in_ = true;
  return *std::move(made);
}

ChatTemplate ChatTemplate::from_file(const std::optional<std::string>& source, ChatTokens tokens) {
  if (!source) return chatml(std::move(tokens));
  auto parsed = parse(*source, tokens);
  if (parsed) return *std::move(parsed);
  ChatTemplate fallback = chatml(std::move(tokens));
  fallback.problem_ = parsed.error().message;
  return fallback;
}

Result<ChatPrompt> ChatTemplate::render(const ChatInput& input) const {
  TRY_ASSIGN(auto fitted, fit_messages(input.messages, caps_));
  TRY_ASSIGN(auto rendered, render_messages(input, fitted.messages));
  return ChatPrompt{std::move(rendered), std::move(fitted.adjustments)};
}

Result<Rendered> ChatTemplate::render_raw(const ChatInput& input) const {
  return render_messages(input, input.messages);
}

Result<Rendered> ChatTemplate::render_messages(const ChatInput& input, const Json& messages) const {
  return parsed_.render(variables_of(input, messages), options_of(tokens_, input.now));
}

}  // namespace ferrox
