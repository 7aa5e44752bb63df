// What crosses the transport? Requests and responses as plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ferrox {

struct ApiKey;
class BodyShare;
class ExchangeRecord;
class QuotaTicket;

struct HttpHeader {
  std::string name;
  std::string value;
};

/// A request as received. `body` is empty until the whole of it was read.
struct HttpRequest {
  std::string method;              ///< upper case: "GET"
  std::string path;                ///< percent-decoded, without the query
  std::string query;               ///< after the question mark, as sent
  std::string path_parameter;      ///< what stood for {..} in the endpoint's path
  std::string id;                  ///< given by the server, sent back as x-request-id
  const ApiKey* caller = nullptr;  ///< whose request it is; nullptr: the service has no keys, or asked for none
  std::chrono::steady_clock::time_point arrival = std::chrono::steady_clock::now();  ///< of its head
  std::shared_ptr<ExchangeRecord> record;  ///< the service's, of what becomes of it; nullptr: it keeps none
  std::shared_ptr<QuotaTicket> ticket;     ///< the service's: what it holds of its caller's quota until it is answered
  size_t most_body_bytes = std::numeric_limits<size_t>::max();  ///< the service's limit, beside the transport's
  std::vector<HttpHeader> headers;
  std::string body;
  size_t n_body_bytes = 0;                ///< of the body as it came, also once it is dropped
  std::shared_ptr<BodyShare> body_share;  ///< the transport's: what the body takes of the budget for all

  /// The first header of this name (any case), or an empty view.
  std::string_view header(std::string_view name) const;
  bool has_header(std::string_view name) const;

  /// Nobody needs the body any more: its memory goes back.
  void drop_body();
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<HttpHeader> headers;
  std::string body;
  std::string error_code = {};  ///< for the books alone: why the request was refused
};

/// ASCII comparison without case.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace ferrox
