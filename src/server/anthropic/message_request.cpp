// How is a message read and prepared?
#include "server/anthropic/message_request.h"

#include "server/anthropic/message_fields.h"
#include "server/request/chat_prompt.h"

namespace ferrox {

ApiResult<MessageRequest> parse_message(std::string_view body, MessageUse use, UnknownFields unknown) {
  const auto json = parse_json(body);
  if (!json) return invalid_request("", json.error().message);
  MessageRequest message;
  const auto read_one = [&](const std::string& name, const Json& value) -> ApiResult<FieldUse> {
    TRY_ASSIGN(const FieldUse prompt, read_field(message_prompt_fields(), name, value, message));
    if (prompt != FieldUse::kUnknown) return prompt;
    TRY_ASSIGN(const FieldUse shape, read_field(message_answer_fields(), name, value, message));
    return use == MessageUse::kPromptLength && shape == FieldUse::kTaken && !value.is_null() ? FieldUse::kIgnored
                                                                                             : shape;
  };
  TRY(walk_fields(*json, unknown, message, read_one));
  TRY(require_fields(message_prompt_fields(), *json, message));
  if (use == MessageUse::kAnswer) TRY(require_fields(message_answer_fields(), *json, message));
  return message;
}

ApiResult<PreparedMessage> prepare_message(MessageRequest message, const Engine& engine) {
  ChatInput input;
  if (!message.system.is_null()) input.messages.push_back({{"role", "system"}, {"content", message.system}});
  for (Json& one : message.messages) input.messages.push_back(std::move(one));
  TRY_ASSIGN(EncodedChat chat, encode_chat(input, engine, message));
  PreparedMessage prepared;
  prepared.stream = message.stream;
  prepared.is_repeatable = is_repeatable(message);
  add_chat_headers(chat, message, prepared.headers);
  prepared.request = std::move(message.request);
  prepared.request.prompt = std::move(chat.tokens);
  prepared.request.sampling.seed = choose_seed(message);
  return prepared;
}

}  // namespace ferrox
