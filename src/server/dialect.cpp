// Which paths have error bodies of their own?
#include "server/dialect.h"

#include <utility>

#include "server/anthropic/message_error.h"

namespace ferrox {

HttpResponse refusal(const HttpRequest& request, const ApiError& error) {
  HttpResponse response = error_response(error);
  add_dialect_headers(request, response.headers);
  if (!is_message_path(request.path)) return response;
  response.body = message_error_body(error, request.id);
  if (error.status == 501)
    response.headers.push_back({"x-should-retry", "false"});  // its clients retry all from 500 on
  return response;
}

void add_dialect_headers(const HttpRequest& request, std::vector<HttpHeader>& headers) {
  if (is_message_path(request.path)) headers.push_back({"request-id", request.id});
}

HttpResponse event_stream_head(const HttpRequest& request, std::vector<HttpHeader> headers) {
  HttpResponse head;
  head.content_type = "text/event-stream; charset=utf-8";
  head.headers = std::move(headers);
  add_dialect_headers(request, head.headers);
  head.headers.push_back({"cache-control", "no-cache"});
  head.headers.push_back({"x-accel-buffering", "no"});
  return head;
}

}  // namespace ferrox
