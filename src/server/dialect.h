// What does a path's dialect say alike, whatever the answer? Its refusals, and the headers of its answers.
#pragma once

#include <vector>

#include "server/api_error.h"
#include "server/http/message.h"

namespace ferrox {

/// OpenAI's body, or Anthropic's for what lies under /v1/messages.
HttpResponse refusal(const HttpRequest& request, const ApiError& error);

/// `request-id`, where Anthropic's clients look for it.
void add_dialect_headers(const HttpRequest& request, std::vector<HttpHeader>& headers);

/// The head of an answer that is told as server-sent events, with these headers beside its own.
HttpResponse event_stream_head(const HttpRequest& request, std::vector<HttpHeader> headers);

}  // namespace ferrox
