// How do connections come in? One accept loop that pauses when there are too many or no file descriptor is left.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

#include "base/result.h"
#include "server/http/connection_set.h"
#include "server/http/exchange.h"
#include "server/http/limits.h"

namespace ferrox {

class Listener {
 public:
  /// Binds and listens. Port 0: a free one. `service`, `limits` and `tls` (nullptr: plain) outlive the listener.
  /// kIo: the address isn't one of this machine's, or the port is taken.
  static Result<std::unique_ptr<Listener>> open(asio::any_io_executor executor, const std::string& host, uint16_t port,
                                                HttpService& service, const HttpLimits& limits,
                                                asio::ssl::context* tls = nullptr);

  uint16_t port() const;
  ConnectionSet& connections() { return connections_; }

  /// Starts the accept loop.
  void start();

  /// Ends the accept loop. Connections go on.
  void stop();

 private:
  Listener(tcp::acceptor acceptor, HttpService& service, const HttpLimits& limits, asio::ssl::context* tls);
  awaitable<void> accept_loop();
  awaitable<void> make_room();

  tcp::acceptor acceptor_;
  asio::steady_timer pause_timer_;
  HttpService& service_;
  const HttpLimits& limits_;
  asio::ssl::context* const tls_;
  ConnectionSet connections_;
};

}  // namespace ferrox
