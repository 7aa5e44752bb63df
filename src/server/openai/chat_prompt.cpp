// How does a checked chat become work for the engine?
#include "server/request/chat_prompt.h"
#include "server/openai/chat_request.h"
#include "server/openai/prompt_building.h"

namespace ferrox {

ApiResult<PreparedAnswer> prepare_chat(const ParsedChat& parsed, const Engine& engine) {
  ChatRequest request = parsed.request;
  ChatInput input;
  input.messages = request.messages;
  input.variables = request.template_variables;
  TRY_ASSIGN(EncodedChat chat, encode_chat(input, engine, request));
  TRY_ASSIGN(PreparedAnswer prepared, prepare_answer(request, {std::move(chat.tokens)}, engine.tokenizer()));
  add_chat_headers(chat, request, prepared.headers);
  const auto logprobs = prepared.logprobs ? Logprobs::kTold : Logprobs::kNone;
  prepared.shape = make_chat_shape(engine.tokenizer(), logprobs);
  return prepared;
}

}  // namespace ferrox
