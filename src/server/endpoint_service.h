// How does a request reach its endpoint? Caller, route and key are checked, then the handler runs.
#pragma once

#include <memory>
#include <optional>

#include "server/api_error.h"
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/record/exchange_record.h"

namespace ferrox {

class EndpointService : public HttpService {
 public:
  /// `app` outlives the service.
  explicit EndpointService(App& app) : app_(app) {}

  std::optional<HttpResponse> refuse(HttpRequest& head) override;
  awaitable<void> serve(Exchange& exchange) override;
  HttpResponse transport_error(const HttpRequest& head, int status, const std::string& message) const override;
  void finished(const HttpRequest& request, const HttpOutcome& outcome) override;
  bool keep_alive() const override { return !app_.draining(); }

 private:
  std::shared_ptr<ExchangeRecord> open_record(const HttpRequest& head, const Endpoint* endpoint) const;
  std::optional<ApiError> check_caller(const HttpRequest& head) const;
  std::optional<ApiError> check_key(const Endpoint& endpoint, HttpRequest& head) const;
  std::optional<ApiError> admit(const Endpoint& endpoint, HttpRequest& head);

  App& app_;
};

}  // namespace ferrox
