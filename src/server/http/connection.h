// What happens on one accepted socket? Requests are read one after another, each is served, until either side is done.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>

#include <chrono>
#include <memory>

#include "server/http/asio.h"
#include "server/http/connection_set.h"
#include "server/http/exchange.h"
#include "server/http/http_stream.h"
#include "server/http/limits.h"
#include "server/http/request_head.h"

namespace ferrox {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// `tls` (nullptr: plain), `service`, `limits` and `set` outlive the connection.
  Connection(tcp::socket socket, asio::ssl::context* tls, HttpService& service, const HttpLimits& limits,
             ConnectionSet& set);
  ~Connection();

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Serves until the connection ends. Never throws.
  awaitable<void> run();

  /// A request's header was read and its answer isn't finished.
  bool busy() const { return busy_; }

  /// No request's header was read yet: whoever opened it may be sending the first one.
  bool fresh() const { return fresh_; }

  /// Since when its next request is awaited, while it isn't busy.
  std::chrono::steady_clock::time_point waiting_since() const { return waiting_since_; }

  /// Ends pending operations with an error.
  void close();

 private:
  /// Reads and serves one request. False: the connection is finished.
  awaitable<bool> serve_one();
  awaitable<std::optional<TransportFault>> read_body(RequestParser& parser, HttpRequest& request);
  awaitable<bool> refuse_transport(HttpRequest head, int status, std::string message);
  awaitable<bool> refuse_unread(HttpRequest head, HttpResponse response);
  awaitable<bool> handshake();

  HttpStream stream_;
  boost::beast::flat_buffer buffer_;  ///< bytes read and not parsed yet; holds a head or a trailer at most
  HttpService& service_;
  const HttpLimits& limits_;
  ConnectionSet& set_;
  std::string request_id_;  ///< of the last request
  std::chrono::steady_clock::time_point waiting_since_ = std::chrono::steady_clock::now();
  bool busy_ = false;
  bool fresh_ = true;
};

}  // namespace ferrox
