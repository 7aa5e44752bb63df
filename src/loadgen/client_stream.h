// Over what do a client's bytes go? TCP, plain or through TLS to a server that proves its name.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace ferrox {

/// Whom a client believes that a server is who its URL says.
struct TlsTrust {
  bool is_blind = false;  ///< anybody: certificates aren't looked at
  std::string ca_file;    ///< PEM, who may have signed the server's certificate; empty: whom the system trusts
};

/// For TLS 1.2 and later. kIo: a file that isn't certificates in PEM.
Result<std::unique_ptr<boost::asio::ssl::context>> open_client_tls(const TlsTrust& trust);

/// An AsyncStream as Beast has it; its time limits are those of beast::tcp_stream.
class ClientStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;
  using Addresses = boost::asio::ip::tcp::resolver::results_type;

  /// `tls` (nullptr: plain) outlives the stream. `host`: the name or address that the server proves to have.
  ClientStream(boost::asio::io_context& io, boost::asio::ssl::context* tls, std::string host)
      : tcp_(io), context_(tls), host_(std::move(host)) {}

  executor_type get_executor() { return tcp_.get_executor(); }

  /// A new connection, in the place of one that was closed. Throws system_error, as handshake() does.
  boost::asio::awaitable<void> connect(const Addresses& addresses);
  /// Agrees on keys and looks at the certificate; a plain stream has nothing to agree on.
  boost::asio::awaitable<void> handshake();
  bool is_connected() const { return is_connected_; }

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

  /// Pending operations fail. The server isn't told that nothing follows: it has answered, or isn't wanted any more.
  void close();

 private:
  boost::beast::tcp_stream tcp_;
  boost::asio::ssl::context* const context_;
  const std::string host_;
  std::unique_ptr<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
  bool is_connected_ = false;
};

}  // namespace ferrox
