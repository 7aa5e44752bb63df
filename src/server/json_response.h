// The answer of an endpoint that gives JSON or refuses. A coroutine gives it a name before it moves it on: g++ 12 frees
// twice what a temporary owns.
#pragma once

#include <utility>
#include <vector>

#include "server/api_error.h"
#include "server/json_text.h"

namespace ferrox {

inline HttpResponse json_response(const ApiResult<Json>& answer, std::vector<HttpHeader> headers = {}) {
  if (!answer) return error_response(answer.error());
  HttpResponse response;
  response.headers = std::move(headers);
  response.body = dump_json(*answer);
  return response;
}

}  // namespace ferrox
