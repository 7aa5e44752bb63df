// How does the server live: requests are checked, routed and answered, until a signal drains it?
#include "server/server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "server/access.h"
#include "server/api_error.h"
#include "server/app.h"
#include "server/http/listener.h"
#include "server/router.h"

namespace ferrox {
namespace {

/// After the drain's limit everything is cancelled; answers still get this long to be written.
constexpr std::chrono::milliseconds kLastWrites{2'000};
constexpr std::chrono::milliseconds kDrainPoll{10};

/// Routes requests to endpoints.
class EndpointService : public HttpService {
 public:
  explicit EndpointService(App& app) : app_(app) {}

  std::optional<HttpResponse> refuse(HttpRequest& head) override {
    if (const auto error = check_caller(head)) return error_response(*error);
    const Route route = find_route(all_endpoint, head.method, head.path);
    if (route.endpoint == nullptr) return refuse_route(head, route.allowed_methods);
    if (route.endpoint->access == Access::kKey && !has_key(head)) return error_response(invalid_api_key());
    head.path_parameter = route.parameter;
    return std::nullopt;
  }

  awaitable<void> serve(Exchange& exchange) override {
    std::string failure;
    try {
      const Route route = find_route(all_endpoint, exchange.request().method, exchange.request().path);
      co_await route.endpoint->handle(app_, exchange);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (failure.empty()) co_return;
    log().error("request {}: {}", exchange.request().id, failure);
    HttpResponse response = error_response(ApiError(500, "server_error", "internal_error", failure));
    if (!exchange.answered()) co_await exchange.respond(std::move(response));
  }

  HttpResponse transport_error(int status, const std::string& message) const override {
    return error_response(transport_refusal(status, message));
  }

  bool keep_alive() const override { return !app_.draining(); }

 private:
  /// Without keys anyone who reaches the port may call, so pages of other sites must not reach it.
  std::optional<ApiError> check_caller(const HttpRequest& head) const {
    const ServerOptions& options = app_.options();
    if (!options.api_keys.empty()) return std::nullopt;
    const std::string_view host = head.header("host");
    if (!is_allowed_host(host, options.allowed_hosts) && !equal_ignoring_case(host_of(host), options.host)) {
      return forbidden("header host: expected an address, a loopback name or an allowed host");
    }
    if (!is_allowed_origin(head.header("origin"), host, options.allowed_hosts)) {
      return forbidden("header origin: expected this server's own or an allowed host");
    }
    return std::nullopt;
  }

  bool has_key(const HttpRequest& head) const {
    const ServerOptions& options = app_.options();
    return options.api_keys.empty() || is_known_key(options.api_keys, bearer_key(head.header("authorization"))) ||
           is_known_key(options.api_keys, head.header("x-api-key"));
  }

  static HttpResponse refuse_route(const HttpRequest& head, const std::string& allowed) {
    if (allowed.empty()) return error_response(unknown_route(head.method, head.path));
    HttpResponse response = error_response(unknown_method(head.method, head.path, allowed));
    response.headers.push_back({"allow", allowed});
    return response;
  }

  App& app_;
};

}  // namespace

struct Server::Impl {
  Impl(Engine& engine, ServerOptions given)
      : options(std::move(given)), app(engine, options, io.get_executor()), service(app), signals(io) {}

  void watch_signals();
  void on_signal();
  awaitable<void> drain();
  awaitable<void> wait_until_quiet(std::chrono::milliseconds longest);

  const ServerOptions options;
  asio::io_context io{1};
  App app;
  EndpointService service;
  std::unique_ptr<Listener> listener;
  asio::signal_set signals;
};

Result<std::unique_ptr<Server>> Server::open(Engine& engine, ServerOptions options) {
  if (!is_loopback(options.host) && options.api_keys.empty() && !options.allow_unauthenticated_remote) {
    return make_error(ErrorCode::kInvalidArgument,
                      "host {}: expected a loopback address, an api key, or the word that strangers may call",
                      options.host);
  }
  auto impl = std::make_unique<Impl>(engine, std::move(options));
  TRY_ASSIGN(impl->listener, Listener::open(impl->io.get_executor(), impl->options.host, impl->options.port,
                                            impl->service, impl->options.limits));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() = default;

uint16_t Server::port() const { return impl_->listener->port(); }

std::string Server::url() const {
  const bool is_v6 = impl_->options.host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}", is_v6 ? "[" + impl_->options.host + "]" : impl_->options.host, port());
}

void Server::run() {
  if (impl_->options.handle_signals) impl_->watch_signals();
  impl_->listener->start();
  impl_->io.run();
}

void Server::stop() {
  asio::post(impl_->io, [impl = impl_.get()] { impl->on_signal(); });
}

void Server::Impl::watch_signals() {
  signals.add(SIGTERM);
  signals.add(SIGINT);
  signals.async_wait([this](const error_code& error, int) {
    if (!error) on_signal();
  });
}

void Server::Impl::on_signal() {
  if (app.draining()) return;
  log().info("draining: {} running requests may finish", app.running().size());
  app.start_draining();
  app.engine().drain();
  signals.async_wait([](const error_code& error, int number) {
    if (!error) std::_Exit(128 + number);
  });
  asio::co_spawn(io, drain(), asio::detached);
}

awaitable<void> Server::Impl::wait_until_quiet(std::chrono::milliseconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  asio::steady_timer timer(io);
  while (listener->connections().n_busy() > 0 && std::chrono::steady_clock::now() < deadline) {
    timer.expires_after(kDrainPoll);
    co_await timer.async_wait(kAwait);
  }
}

awaitable<void> Server::Impl::drain() {
  listener->connections().close_idle();
  co_await wait_until_quiet(options.drain_timeout);
  app.running().cancel_all();
  co_await wait_until_quiet(kLastWrites);
  listener->stop();
  listener->connections().close_all();
  signals.cancel();
}

}  // namespace ferrox
