// Who is refused, and what happens when a handler fails?
#include "server/endpoint_service.h"

#include <boost/core/demangle.hpp>

#include <algorithm>
#include <typeinfo>

#include "server/access.h"
#include "server/dialect.h"
#include "server/endpoint.h"
#include "server/record/summary_line.h"
#include "server/router.h"
#include "server/streams/stream_reader.h"

namespace ferrox {
namespace {

/// Bodies from which on what was made of them is worth giving back.
constexpr size_t kLargeBodyBytes = size_t{1} << 20;

HttpResponse refuse_route(const HttpRequest& head, const std::string& allowed) {
  if (allowed.empty()) return refusal(head, unknown_route(head.method, head.path));
  HttpResponse response = refusal(head, unknown_method(head.method, head.path, allowed));
  response.headers.push_back({"allow", allowed});
  return response;
}

}  // namespace

std::optional<HttpResponse> EndpointService::refuse(HttpRequest& head) {
  const Route route = find_route(all_endpoint, head.method, head.path);
  head.record = open_record(head, route.endpoint);
  if (const auto error = check_caller(head)) return refusal(head, *error);
  if (route.endpoint == nullptr) return refuse_route(head, route.allowed_methods);
  if (const auto error = check_key(*route.endpoint, head)) return refusal(head, *error);
  if (const auto error = admit(*route.endpoint, head)) return refusal(head, *error);
  head.path_parameter = route.parameter;
  head.most_body_bytes = route.endpoint->most_body_bytes;
  return std::nullopt;
}

/// What is admitted counts for its key's quota from here on, before its body comes. Who takes up a stream asks for
/// nothing new.
std::optional<ApiError> EndpointService::admit(const Endpoint& endpoint, HttpRequest& head) {
  if (endpoint.runs_model && is_resume(head)) return std::nullopt;
  if (endpoint.runs_model) {
    if (auto error = app_.unready()) return error;
  }
  if (!endpoint.is_metered) return std::nullopt;
  if (auto error = app_.quota_refusal(head.caller, 1)) return error;
  head.ticket = std::make_shared<QuotaTicket>(app_.quotas(), head.caller, std::chrono::steady_clock::now());
  return std::nullopt;
}

awaitable<void> EndpointService::serve(Exchange& exchange) {
  const HttpRequest& request = exchange.request();
  log_request(spdlog::level::debug, request.id, "begun",
              {{"method", request.method}, {"path", logged_path(request.path)}});
  std::string failure;
  std::string kind;
  try {
    const Endpoint& endpoint = *request.record->endpoint;
    if (endpoint.runs_model && is_resume(request)) {
      co_await resume_by_header(app_, exchange);
    } else {
      co_await endpoint.handle(app_, exchange);
    }
  } catch (const std::exception& error) {
    failure = error.what();
    kind = boost::core::demangle(typeid(error).name());
  }
  if (kind.empty()) co_return;
  // A library's message may quote what the client sent.
  const std::string& told = app_.options().log_prompts ? failure : kind;
  log_request(spdlog::level::err, request.id, "the handler failed", {{"exception", told}});
  HttpResponse response = refusal(request, ApiError(ErrorKind::kInternal, failure));
  if (!exchange.answered()) co_await exchange.respond(std::move(response));
}

HttpResponse EndpointService::transport_error(const HttpRequest& head, int status, const std::string& message) const {
  return refusal(head, transport_refusal(status, message));
}

void EndpointService::finished(const HttpRequest& request, const HttpOutcome& outcome) {
  log_summary(request, outcome);
  if (request.n_body_bytes >= kLargeBodyBytes) app_.give_free_memory_back_soon();
  ExchangeRecord* const record = request.record.get();
  if (record == nullptr) return;
  record->is_summed_up = true;
  if (record->trace == nullptr) return;
  record->trace->finish(request, outcome, record->endpoint, app_.engine().model_id());
}

/// With a trace where traces go somewhere, unless the caller doesn't record it. What probes ask is in none.
std::shared_ptr<ExchangeRecord> EndpointService::open_record(const HttpRequest& head, const Endpoint* endpoint) const {
  auto record = std::make_shared<ExchangeRecord>();
  record->endpoint = endpoint;
  if (app_.options().traces == nullptr || (endpoint != nullptr && endpoint->is_probe)) return record;
  const auto n_parents = std::ranges::count_if(
      head.headers, [](const HttpHeader& header) { return equal_ignoring_case(header.name, "traceparent"); });
  std::optional<TraceContext> caller;
  if (n_parents == 1) caller = parse_traceparent(head.header("traceparent"));
  if (caller && !caller->is_sampled) return record;
  if (caller && is_trace_state(head.header("tracestate"))) caller->trace_state = head.header("tracestate");
  record->trace = std::make_unique<RequestTrace>(app_.options().traces, caller.value_or(TraceContext()));
  return record;
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
