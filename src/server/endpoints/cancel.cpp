// POST /v1/cancel: stops a running request by the id that its answer or its x-request-id header carries.
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"
#include "server/request/ignored_header.h"

namespace ferrox {
namespace {

HttpResponse cancel_by_body(App& app, const HttpRequest& request) {
  const auto json = parse_json(request.body);
  if (!json) return error_response(invalid_request("", json.error().message));
  const auto id = json->is_object() ? json->find("id") : json->end();
  if (id == json->end() || !id->is_string()) {
    return error_response(invalid_request("id", "id: expected the id of a running request"));
  }
  std::vector<std::string> ignored;
  for (const auto& [name, value] : json->items()) {
    if (name != "id") ignored.push_back(name);
  }
  if (!ignored.empty() && app.options().strict_fields) {
    return error_response(invalid_request(
        ignored.front(), ignored.front() + ": expected a field of this endpoint, found an unknown one"));
  }
  const bool found = app.running().cancel(id->get_ref<const std::string&>(), request.caller);
  HttpResponse response;
  add_ignored_header(ignored, response.headers);
  response.status = found ? 200 : 404;
  response.body = found ? dump_json({{"id", *id}, {"cancelled", true}})
                        : error_body(ApiError(404, "invalid_request_error", "not_found",
                                              "id: expected the id of a running request, found none of this name"));
  return response;
}

awaitable<void> cancel(App& app, Exchange& exchange) {
  HttpResponse response = cancel_by_body(app, exchange.request());
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_cancel{
    .method = "POST",
    .path = "/v1/cancel",
    .access = Access::kKey,
    .summary = "Stops a running request",
    .handle = cancel,
};

}  // namespace ferrox
