// How does a client reach a server? Over TCP, plain or through TLS to a server that proves its name.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <memory>
#include <string>
#include <utility>

#include "base/maybe_tls_stream.h"
#include "base/result.h"

namespace ferrox {

/// Whom a client believes that a server is who its URL says.
struct TlsTrust {
  bool is_blind = false;  ///< anybody: certificates aren't looked at
  std::string ca_file;    ///< PEM, who may have signed the server's certificate; empty: whom the system trusts
};

/// For TLS 1.2 and later. kIo: a file that isn't certificates in PEM.
Result<std::unique_ptr<boost::asio::ssl::context>> open_client_tls(const TlsTrust& trust);

class ClientStream : public MaybeTlsStream<boost::asio::ssl::stream<boost::beast::tcp_stream&>> {
 public:
  using Addresses = boost::asio::ip::tcp::resolver::results_type;

  /// `tls` (nullptr: plain) outlives the stream. `host`: the name or address that the server proves to have.
  ClientStream(boost::asio::io_context& io, boost::asio::ssl::context* tls, std::string host)
      : MaybeTlsStream(io), context_(tls), host_(std::move(host)) {}

  /// A new connection, in the place of one that was closed. Throws system_error, as handshake() does.
  boost::asio::awaitable<void> connect(const Addresses& addresses);
  /// Agrees on keys and looks at the certificate; a plain stream has nothing to agree on.
  boost::asio::awaitable<void> handshake();
  bool is_connected() const { return is_connected_; }

  /// Pending operations fail. The server isn't told that nothing follows: it has answered, or isn't wanted any more.
  void close();

 private:
  boost::asio::ssl::context* const context_;
  const std::string host_;
  bool is_connected_ = false;
};

}  // namespace ferrox
