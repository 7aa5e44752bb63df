// Who is refused, and what happens when a handler fails?
#include "server/endpoint_service.h"

#include "base/log.h"
#include "server/access.h"
#include "server/dialect.h"
#include "server/endpoint.h"
#include "server/router.h"
#include "server/streams/stream_reader.h"

namespace ferrox {
namespace {

HttpResponse refuse_route(const HttpRequest& head, const std::string& allowed) {
  if (allowed.empty()) return refusal(head, unknown_route(head.method, head.path));
  HttpResponse response = refusal(head, unknown_method(head.method, head.path, allowed));
  response.headers.push_back({"allow", allowed});
  return response;
}

}  // namespace

std::optional<HttpResponse> EndpointService::refuse(HttpRequest& head) {
  if (const auto error = check_caller(head)) return refusal(head, *error);
  const Route route = find_route(all_endpoint, head.method, head.path);
  if (route.endpoint == nullptr) return refuse_route(head, route.allowed_methods);
  if (const auto error = check_key(*route.endpoint, head)) return refusal(head, *error);
  if (route.endpoint->is_metered && !is_resume(head)) {
    if (const auto error = app_.unready()) return refusal(head, *error);
    if (const auto error = app_.quota_refusal(head.caller, 1)) return refusal(head, *error);
  }
  head.path_parameter = route.parameter;
  return std::nullopt;
}

awaitable<void> EndpointService::serve(Exchange& exchange) {
  log().debug("request {}: {} {}", exchange.request().id, exchange.request().method, exchange.request().path);
  std::string failure;
  try {
    const Route route = find_route(all_endpoint, exchange.request().method, exchange.request().path);
    if (route.endpoint->is_metered && is_resume(exchange.request())) {
      co_await resume_by_header(app_, exchange);
    } else {
      co_await route.endpoint->handle(app_, exchange);
    }
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (failure.empty()) co_return;
  log().error("request {}: {}", exchange.request().id, failure);
  HttpResponse response = refusal(exchange.request(), ApiError(ErrorKind::kInternal, failure));
  if (!exchange.answered()) co_await exchange.respond(std::move(response));
}

HttpResponse EndpointService::transport_error(const HttpRequest& head, int status, const std::string& message) const {
  return refusal(head, transport_refusal(status, message));
}

/// Without keys anyone who reaches the port may call, so pages of other sites must not reach it.
std::optional<ApiError> EndpointService::check_caller(const HttpRequest& head) const {
  if (!app_.keys().empty()) return std::nullopt;
  const ServerOptions& options = app_.options();
  const std::string_view host = head.header("host");
  if (!is_allowed_host(host, options.allowed_hosts) && !equal_ignoring_case(host_of(host), options.host)) {
    return forbidden("header host: expected an address, a loopback name or an allowed host");
  }
  if (!is_allowed_origin(head.header("origin"), host, options.allowed_hosts)) {
    return forbidden("header origin: expected this server's own or an allowed host");
  }
  return std::nullopt;
}

/// Where keys are configured, the request learns whose it is.
std::optional<ApiError> EndpointService::check_key(const Endpoint& endpoint, HttpRequest& head) const {
  if (app_.keys().empty()) return std::nullopt;
  head.caller = app_.keys().find_caller(head);
  if (endpoint.access == Access::kPublic) return std::nullopt;
  if (head.caller == nullptr) return invalid_api_key();
  if (endpoint.access == Access::kAdmin && !head.caller->is_admin) {
    return forbidden(fmt::format("{} {}: it concerns other callers; expected the key of an admin, found that of '{}'",
                                 endpoint.method, endpoint.path, head.caller->name));
  }
  return std::nullopt;
}

}  // namespace ferrox
