// Over what do a connection's bytes go? TCP, plain or through TLS: nobody above sees which.
#pragma once

#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <memory>
#include <utility>

#include "server/http/asio.h"

namespace ferrox {

/// An AsyncStream as Beast has it. Time limits are those of beast::tcp_stream: set before an operation, they hold for
/// all that the operation does below.
class HttpStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;

  /// `tls` (nullptr: plain) outlives the stream.
  HttpStream(tcp::socket socket, asio::ssl::context* tls);

  executor_type get_executor() { return tcp_.get_executor(); }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (tls_ != nullptr) return tls_->async_read_some(buffers, std::forward<Token>(token));
    return tcp_.async_read_some(buffers, std::forward<Token>(token));
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (tls_ != nullptr) return tls_->async_write_some(buffers, std::forward<Token>(token));
    return tcp_.async_write_some(buffers, std::forward<Token>(token));
  }

  void expires_after(std::chrono::milliseconds longest) { tcp_.expires_after(longest); }
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
  /// Flat: what is written together goes in one record.
  using TlsStream = boost::beast::flat_stream<asio::ssl::stream<boost::beast::tcp_stream&>>;

  awaitable<void> say_end();

  boost::beast::tcp_stream tcp_;
  std::unique_ptr<TlsStream> tls_;
};

}  // namespace ferrox
