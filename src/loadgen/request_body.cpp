#include "loadgen/request_body.h"

#include <nlohmann/json.hpp>

namespace ferrox {
namespace {

using BodyJson = nlohmann::ordered_json;

}  // namespace

const char* endpoint_path(EndpointKind kind) {
  return kind == EndpointKind::kChat ? "/v1/chat/completions" : "/v1/completions";
}

std::string Dialogue::body(const BodyOptions& options, size_t output_tokens) const {
  BodyJson json;
  if (!options.model.empty()) json["model"] = options.model;
  BodyJson messages = BodyJson::array();
  std::string prompt;
  for (const auto& said : turns_) {
    const bool is_last = &said == &turns_.back();
    messages.push_back({{"role", "user"}, {"content", said.text}});
    if (!is_last) messages.push_back({{"role", "assistant"}, {"content", said.answer}});
    prompt += is_last ? said.text : said.text + said.answer + " ";
  }
  if (options.endpoint == EndpointKind::kChat) {
    json["messages"] = std::move(messages);
  } else {
    json["prompt"] = std::move(prompt);
  }
  json["max_tokens"] = output_tokens;
  json["temperature"] = 0;
  json["stream"] = true;
  json["stream_options"] = {{"include_usage", true}};
  if (options.ignore_eos) json["ignore_eos"] = true;
  return json.dump(-1, ' ', false, BodyJson::error_handler_t::replace);
}

}  // namespace ferrox
