// How is a port opened, and what happens to each connection that comes in?
#include "server/http/listener.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/socket_base.hpp>

#include "base/log.h"
#include "server/http/connection.h"

namespace ferrox {
namespace {

/// How long accepting rests when it can't go on: long enough not to spin, short enough not to be felt.
constexpr std::chrono::milliseconds kAcceptPause{50};

/// How long a connection may say nothing, once others find no place.
constexpr std::chrono::seconds kTimeToBegin{1};

Result<tcp::endpoint> resolve(const asio::any_io_executor& executor, const std::string& host, uint16_t port) {
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) return tcp::endpoint(address, port);
  asio::ip::basic_resolver<tcp> resolver(executor);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error || found.empty()) {
    return make_error(ErrorCode::kIo, "host '{}': expected an address or a name of this machine: {}", host,
                      error.message());
  }
  return found.begin()->endpoint();
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(asio::any_io_executor executor, const std::string& host, uint16_t port,
                                                 HttpService& service, const HttpLimits& limits,
                                                 asio::ssl::context* tls) {
  TRY_ASSIGN(const tcp::endpoint endpoint, resolve(executor, host, port));
  error_code error;
  tcp::acceptor acceptor(executor);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use) {
    return make_error(ErrorCode::kIo, "listen on {}:{}: expected a free port, found it in use; --port names another",
                      host, port);
  }
  if (error) return make_error(ErrorCode::kIo, "listen on {}:{}: {}", host, port, error.message());
  return std::unique_ptr<Listener>(new Listener(std::move(acceptor), service, limits, tls));
}

Listener::Listener(tcp::acceptor acceptor, HttpService& service, const HttpLimits& limits, asio::ssl::context* tls)
    : acceptor_(std::move(acceptor)),
      pause_timer_(acceptor_.get_executor()),
      service_(service),
      limits_(limits),
      tls_(tls) {}

uint16_t Listener::port() const {
  error_code ignored;
  return acceptor_.local_endpoint(ignored).port();
}

void Listener::start() { asio::co_spawn(acceptor_.get_executor(), accept_loop(), asio::detached); }

void Listener::stop() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_timer_.cancel();
}

/// Whoever says nothing makes room for those who come; a connection that was only just opened has its time to begin.
awaitable<void> Listener::make_room() {
  connections_.close_longest_waiting(std::chrono::steady_clock::now() - kTimeToBegin);
  pause_timer_.expires_after(kAcceptPause);
  co_await pause_timer_.async_wait(kAwait);
}

awaitable<void> Listener::accept_loop() {
  while (acceptor_.is_open()) {
    if (connections_.size() >= static_cast<size_t>(limits_.max_connections)) {
      co_await make_room();
      continue;
    }
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (error == asio::error::operation_aborted) break;
    if (!acceptor_.is_open()) break;  // one that came beside stop() would be closed by nobody
    if (error) {
      log().warn("accept: {}", error.message());
      co_await make_room();
      continue;
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    socket.set_option(asio::socket_base::send_buffer_size(limits_.send_buffer_bytes), ignored);
    const auto connection = std::make_shared<Connection>(std::move(socket), tls_, service_, limits_, connections_);
    asio::co_spawn(
        acceptor_.get_executor(), [connection] { return connection->run(); }, asio::detached);
  }
}

}  // namespace ferrox
