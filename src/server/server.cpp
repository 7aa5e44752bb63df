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
#include "server/app.h"
#include "server/endpoint_service.h"
#include "server/http/descriptor_limit.h"
#include "server/http/listener.h"
#include "server/http/tls.h"
#include "server/sleep_steps.h"
#include "server/status_line.h"

namespace ferrox {
namespace {

/// After the drain's limit everything is cancelled; answers still get this long to be written.
constexpr std::chrono::milliseconds kLastWrites{5'000};
constexpr std::chrono::milliseconds kDrainPoll{10};

Result<KeyRing> all_keys(const ServerOptions& options) {
  std::vector<ApiKey> keys = options.keys;
  for (const std::string& key : options.api_keys) {
    if (key.empty()) return make_error(ErrorCode::kInvalidArgument, "--api-key: expected a key, found an empty one");
    keys.push_back(unlimited_key(key));
  }
  return KeyRing::make(std::move(keys));
}

/// None where no files are given.
Result<std::unique_ptr<asio::ssl::context>> tls_of(const ServerOptions& options) {
  if (options.tls_cert_file.empty() && options.tls_key_file.empty()) return std::unique_ptr<asio::ssl::context>();
  if (options.tls_cert_file.empty() || options.tls_key_file.empty()) {
    return make_error(ErrorCode::kInvalidArgument,
                      "tls: expected --ssl-cert-file and --ssl-key-file, found one of them");
  }
  return open_tls(options.tls_cert_file, options.tls_key_file);
}

}  // namespace

struct Server::Impl {
  Impl(Engine& engine, ServerOptions given, KeyRing keys)
      : options(std::move(given)),
        app(engine, options, std::move(keys), io.get_executor()),
        service(app),
        status_lines(app),
        signals(io) {}

  void watch_signals();
  void on_signal();
  awaitable<void> drain();
  bool is_busy() { return listener->connections().n_busy() > 0 || app.streams().n_running() > 0; }
  awaitable<void> wait_until_quiet(std::chrono::milliseconds longest);
  void leave_hanging_work();

  const ServerOptions options;
  asio::io_context io{1};
  App app;
  EndpointService service;
  StatusLines status_lines;
  std::unique_ptr<asio::ssl::context> tls;
  std::unique_ptr<Listener> listener;
  asio::signal_set signals;
  asio::steady_timer idle_timer{io};
  bool is_ending = false;
  bool is_hanging = false;
};

Result<void> check_exposure(const ServerOptions& options) {
  const bool has_keys = !options.api_keys.empty() || !options.keys.empty();
  if (is_loopback(options.host) || has_keys || options.allow_unauthenticated_remote) return {};
  return make_error(ErrorCode::kInvalidArgument,
                    "--host {}: expected an address of this machine alone; others can be served with --keys-file or "
                    "--api-key, or without any with --allow-unauthenticated-remote",
                    options.host);
}

Result<void> check_keys(const ServerOptions& options) {
  TRY(all_keys(options));
  return {};
}

Result<std::unique_ptr<Server>> Server::open(Engine& engine, ServerOptions options) {
  TRY(check_exposure(options));
  TRY_ASSIGN(KeyRing keys, all_keys(options));
  fit_to_descriptors(options.limits);
  auto impl = std::make_unique<Impl>(engine, std::move(options), std::move(keys));
  TRY_ASSIGN(impl->tls, tls_of(impl->options));
  TRY_ASSIGN(impl->listener, Listener::open(impl->io.get_executor(), impl->options.host, impl->options.port,
                                            impl->service, impl->options.limits, impl->tls.get()));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  if (!impl_->is_hanging) return;
  impl_->app.join_waiters();
  impl_->io.restart();
  impl_->io.run();  // what waited for them ends
}

uint16_t Server::port() const { return impl_->listener->port(); }

std::string Server::url() const {
  const bool is_v6 = impl_->options.host.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", impl_->tls == nullptr ? "http" : "https",
                     is_v6 ? "[" + impl_->options.host + "]" : impl_->options.host, port());
}

Server::Ended Server::run() {
  if (impl_->options.handle_signals) impl_->watch_signals();
  const auto idle = impl_->options.sleep_idle;
  if (idle.count() > 0) asio::co_spawn(impl_->io, doze_when_idle(impl_->app, idle, impl_->idle_timer), asio::detached);
  impl_->listener->start();
  asio::co_spawn(impl_->io, impl_->status_lines.run(), asio::detached);
  impl_->io.run();
  return impl_->is_hanging ? Ended::kDiskHangs : Ended::kDrained;
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
  if (std::exchange(is_ending, true)) return;
  log().info("draining: {} running requests may finish", app.running().size());
  app.start_draining();
  idle_timer.cancel();
  signals.async_wait([](const error_code& error, int number) {
    if (!error) std::_Exit(128 + number);
  });
  asio::co_spawn(io, drain(), asio::detached);
}

awaitable<void> Server::Impl::wait_until_quiet(std::chrono::milliseconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  asio::steady_timer timer(io);
  while (is_busy() && std::chrono::steady_clock::now() < deadline) {
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
  app.streams().let_go_all();
  status_lines.stop();
  signals.cancel();
  if (app.n_on_disk() > 0) leave_hanging_work();
}

void Server::Impl::leave_hanging_work() {
  log().error(
      "{} sessions are still being read or written after the drain's limit: the disk doesn't answer; "
      "what isn't wholly written isn't there afterwards",
      app.n_on_disk());
  is_hanging = true;
  io.stop();
}

}  // namespace ferrox
