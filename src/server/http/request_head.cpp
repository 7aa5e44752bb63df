// How is a request's head read and judged?
#include "server/http/request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/percent.h"
#include "server/http/request_id.h"

namespace ferrox {
namespace {

/// Headers that say one thing: of two, a proxy may have believed the other one.
constexpr std::array<std::string_view, 10> kSingleHeaders = {
    "host",   "origin",           "authorization",     "x-api-key",     "content-type",
    "expect", "content-encoding", "transfer-encoding", "last-event-id", "x-ferrox-resumable"};

/// Path and query of a request target; the absolute form loses its scheme and authority.
void split_target(std::string_view target, HttpRequest& request) {
  if (const size_t scheme = target.find("://"); scheme != std::string_view::npos && target.front() != '/') {
    const size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  const size_t question = target.find('?');
  request.path = percent_decode(target.substr(0, question));
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
}

std::optional<TransportFault> fault_of_repetition(const HttpRequest& request) {
  for (const std::string_view name : kSingleHeaders) {
    const auto n = std::count_if(request.headers.begin(), request.headers.end(),
                                 [name](const HttpHeader& header) { return equal_ignoring_case(header.name, name); });
    if (n > 1) return TransportFault{400, fmt::format("header {}: expected once, found {} times", name, n)};
  }
  return std::nullopt;
}

/// What says how the body is to be read, and isn't understood here.
std::optional<TransportFault> fault_of_body_headers(const RequestParser& parser, const HttpRequest& request) {
  const bool has_coding = request.has_header("transfer-encoding");
  if (has_coding && !equal_ignoring_case(request.header("transfer-encoding"), "chunked")) {
    return TransportFault{400, "header transfer-encoding: expected chunked, found another coding"};
  }
  if (has_coding && parser.get().version() == 10) {
    return TransportFault{400, "header transfer-encoding: expected none in an HTTP/1.0 request"};
  }
  const std::string_view encoding = request.header("content-encoding");
  if (!encoding.empty() && !equal_ignoring_case(encoding, "identity")) {
    return TransportFault{415, "header content-encoding: expected a body as it is, found an encoded one"};
  }
  const std::string_view expectation = request.header("expect");
  if (!expectation.empty() && !equal_ignoring_case(expectation, "100-continue")) {
    return TransportFault{417, "header expect: expected 100-continue, found another expectation"};
  }
  return std::nullopt;
}

}  // namespace

HttpRequest read_head(const RequestParser& parser) {
  const auto& message = parser.get();
  HttpRequest request;
  request.method = message.method_string();
  request.id = new_request_id();
  split_target(message.target(), request);
  for (const auto& field : message) {
    request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  return request;
}

std::optional<TransportFault> fault_of_head(const RequestParser& parser, const HttpRequest& request) {
  const unsigned version = parser.get().version();
  if (version != 10 && version != 11) return TransportFault{505, "http version: expected 1.0 or 1.1"};
  if (version == 11 && !request.has_header("host")) {
    return TransportFault{400, "header host: expected in an HTTP/1.1 request, found none"};
  }
  if (request.path.empty() || request.path.front() != '/') {
    return TransportFault{400, "request target: expected a path that begins with '/'"};
  }
  if (auto fault = fault_of_repetition(request)) return fault;
  return fault_of_body_headers(parser, request);
}

}  // namespace ferrox
