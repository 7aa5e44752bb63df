// Which servers does a client believe?
#include "loadgen/client_stream.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <openssl/ssl.h>

namespace ferrox {
namespace {

namespace ssl = boost::asio::ssl;

bool is_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

}  // namespace

Result<std::unique_ptr<ssl::context>> open_client_tls(const TlsTrust& trust) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
  CHECK(SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION) == 1, "OpenSSL speaks TLS 1.2");
  context->set_verify_mode(trust.is_blind ? ssl::verify_none : ssl::verify_peer);
  boost::system::error_code error;
  if (trust.ca_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(trust.ca_file, error);
  }
  if (!error) return context;
  return make_error(ErrorCode::kIo, "--cacert {}: expected certificates in PEM, found: {}", trust.ca_file,
                    error.message());
}

boost::asio::awaitable<void> ClientStream::connect(const Addresses& addresses) {
  tls_.reset();
  co_await tcp_.async_connect(addresses, boost::asio::use_awaitable);
  is_connected_ = true;
}

boost::asio::awaitable<void> ClientStream::handshake() {
  if (context_ == nullptr) co_return;
  tls_ = std::make_unique<ssl::stream<boost::beast::tcp_stream&>>(tcp_, *context_);
  if (!is_address(host_)) SSL_set_tlsext_host_name(tls_->native_handle(), host_.c_str());
  if (SSL_get_verify_mode(tls_->native_handle()) != SSL_VERIFY_NONE) {
    tls_->set_verify_callback(ssl::host_name_verification(host_));
  }
  co_await tls_->async_handshake(ssl::stream_base::client, boost::asio::use_awaitable);
}

void ClientStream::close() {
  tcp_.close();
  is_connected_ = false;
}

}  // namespace ferrox
