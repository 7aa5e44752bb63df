// Is what a server refuses with what its documentation says? Asked of every answer that a test gets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/percent.h"
#include "server/endpoint.h"
#include "server/json_text.h"
#include "server/raw_client.h"
#include "server/router.h"

namespace ferrox::testing {

/// OpenAI's bodies have a code; of Anthropic's the status must do.
inline bool is_row_of(const ErrorRow& row, const RawResponse& response) {
  if (row.status != response.status) return false;
  const Json body = Json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object() || !body.contains("error") || !body["error"].contains("code")) return true;
  return body["error"]["code"] == row.code;
}

inline void expect_documented(std::string_view method, std::string_view target, const RawResponse& response) {
  if (response.status < 400) return;
  const std::string path = percent_decode(target.substr(0, target.find('?')));
  const Route route = find_route(all_endpoint, method, path);
  if (route.endpoint == nullptr) return;
  const ErrorSet errors = errors_of(*route.endpoint);
  const bool is_told = std::ranges::any_of(
      error_table(), [&](const ErrorRow& row) { return errors.contains(row.kind) && is_row_of(row, response); });
  EXPECT_TRUE(is_told) << method << ' ' << target << ": its documentation has no " << response.status << ' '
                       << response.body;
}

}  // namespace ferrox::testing
