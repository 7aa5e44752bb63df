// How does a server's connection begin and end, plain or through TLS?
#pragma once

#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>

#include "base/maybe_tls_stream.h"
#include "server/http/asio.h"

namespace ferrox {

/// Through TLS flat: what is written together goes in one record.
class HttpStream : public MaybeTlsStream<boost::beast::flat_stream<asio::ssl::stream<boost::beast::tcp_stream&>>> {
 public:
  /// `tls` (nullptr: plain) outlives the stream.
  HttpStream(tcp::socket socket, asio::ssl::context* tls);

  void expires_never() { tcp_.expires_never(); }
  /// Ends pending operations with an error; the stream can be used on.
  void cancel() { tcp_.cancel(); }
  void close() { tcp_.close(); }

  /// Agrees with the client on keys; a plain stream has nothing to agree on.
  awaitable<error_code> handshake();

  /// Tells the client that nothing follows, and drops what still comes until it ends as well or `longest` has passed:
  /// closing at once would reset the connection, and the client could lose the last answer.
  awaitable<void> linger(std::chrono::milliseconds longest);

  /// Ends the connection. Through TLS the client is told before, so that it knows its answer whole, for up to
  /// `longest`.
  awaitable<void> finish(std::chrono::milliseconds longest);

 private:
  awaitable<void> say_end();
};

}  // namespace ferrox
