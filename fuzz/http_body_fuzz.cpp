// Can any request body break the server? Bodies are parsed and checked by every dialect; refusals must be well-formed.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/access.h"
#include "server/anthropic/message_request.h"
#include "server/api_error.h"
#include "server/http/message.h"
#include "server/json_text.h"
#include "server/openai/chat_request.h"
#include "server/openai/completion_request.h"
#include "server/request/ignored_header.h"

namespace ferrox {
namespace {

/// A refusal must be JSON that names its kind, whatever bytes it quotes.
void check_refusal(const ApiError& error) {
  const auto body = parse_json(error_body(error));
  if (!body || !body->at("error").at("message").is_string()) std::abort();
  if (error.status != 400 && error.status != 501) std::abort();
}

/// What passed the checks must keep its promises to the engine.
void check_request(const GenerationParams& params) {
  const SamplingParams& sampling = params.request.sampling;
  if (params.n < 1 || params.n > kMaxChoices || sampling.n_logprobs > kMaxTopLogprobs) std::abort();
  if (!(sampling.top_p >= 0 && sampling.top_p <= 1) || !(sampling.temperature >= 0)) std::abort();
  for (const std::string& stop : params.request.stop) {
    if (stop.empty()) std::abort();
  }
  if (header_list(params.ignored).find_first_of("\r\n") != std::string::npos) std::abort();
}

void try_body(std::string_view body, UnknownFields unknown) {
  if (const auto chat = parse_chat(body, unknown)) {
    check_request(chat->request);
    if (!chat->request.messages.is_array()) std::abort();
  } else {
    check_refusal(chat.error());
  }
  if (const auto completion = parse_completion(body, unknown)) {
    check_request(completion->request);
    if (completion->request.prompts.empty()) std::abort();
  } else {
    check_refusal(completion.error());
  }
  for (const MessageUse use : {MessageUse::kAnswer, MessageUse::kPromptLength}) {
    if (const auto message = parse_message(body, use, unknown)) {
      check_request(*message);
      if (!message->messages.is_array() || message->messages.empty()) std::abort();
    } else {
      check_refusal(message.error());
    }
  }
}

}  // namespace
}  // namespace ferrox

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ferrox::try_body(text, ferrox::UnknownFields::kListed);
  ferrox::try_body(text, ferrox::UnknownFields::kRefused);
  ferrox::percent_decode(text);
  ferrox::is_allowed_host(text, {});
  ferrox::is_allowed_origin(text, "localhost", {});
  ferrox::bearer_key(text);
  return 0;
}
