// How does a conversation become a prompt in the model's own form?
#pragma once

#include <nlohmann/json.hpp>

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat_caps.h"
#include "text/jinja/template.h"

namespace ferrox {

/// Does the prompt end where an answer begins?
enum class GenerationPrompt { kAdd, kOmit };

/// What a front end has of a conversation, in the form of OpenAI's chat API.
struct ChatInput {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  nlohmann::ordered_json tools;  ///< null: none offered, and the template doesn't see the name
  GenerationPrompt generation_prompt = GenerationPrompt::kAdd;
  /// Further variables of the template (enable_thinking, documents, ...). The fields above win over equal names.
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();
  std::optional<std::tm> now;  ///< for strftime_now(); the system's local time when absent
};

struct ChatPrompt {
  Rendered rendered;
  /// What had to be changed in the messages first, each once, in kebab case: "system-message-folded", ...
  std::vector<std::string> adjustments;
};

/// The texts of two control tokens, as templates name them; empty when the vocabulary has none.
struct ChatTokens {
  std::string bos;
  std::string eos;
};

/// A model's chat template with what it can take. Immutable: threads may share it.
class ChatTemplate {
 public:
  /// Parses a template and probes it with tiny conversations.
  /// Errors: kInvalidArgument with line and column when it doesn't parse.
  static Result<ChatTemplate> parse(std::string_view source, ChatTokens tokens);
  /// The built-in ChatML template.
  static ChatTemplate chatml(ChatTokens tokens);
  /// The file's template; ChatML when there is none, or when it doesn't parse: problem() then says why.
  static ChatTemplate from_file(const std::optional<std::string>& source, ChatTokens tokens);

  /// The prompt, after fitting the messages to what the template can take. Errors: kInvalidArgument with line and
  /// column, or the template's own words, see raised_message().
  Result<ChatPrompt> render(const ChatInput& input) const;
  /// The prompt of the messages as they are.
  Result<Rendered> render_raw(const ChatInput& input) const;

  const ChatCaps& caps() const { return caps_; }
  /// Does the template name this variable ("tools", "enable_thinking")?
  bool mentions(std::string_view variable) const { return parsed_.mentions(variable); }
  const std::string& source() const { return source_; }
  /// Is it the built-in template?
  bool is_built_in() const { return built_in_; }
  /// Why the file's template isn't used; empty when it is, or when there is none.
  const std::string& problem() const { return problem_; }

 private:
  ChatTemplate(JinjaTemplate parsed, std::string source, ChatTokens tokens);
  Result<Rendered> render_messages(const ChatInput& input, const nlohmann::ordered_json& messages) const;

  JinjaTemplate parsed_;
  std::string source_;
  ChatTokens tokens_;
  ChatCaps caps_;
  bool built_in_ = false;
  std::string problem_;
};

}  // namespace ferrox
