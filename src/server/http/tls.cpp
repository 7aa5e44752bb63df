// What does a server's TLS allow?
#include "server/http/tls.h"

#include <openssl/ssl.h>

namespace ferrox {

Result<std::unique_ptr<asio::ssl::context>> open_tls(const std::string& cert_file, const std::string& key_file) {
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  CHECK(SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) == 1, "OpenSSL speaks TLS 1.2");
  // A client could make the server compute handshakes on one connection for ever.
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION);
  // Clients keep what resumes their session, so that the server holds nothing of those that left.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  // Without it OpenSSL asks the terminal for the password of an encrypted key.
  context->set_password_callback([](size_t, asio::ssl::context::password_purpose) { return std::string(); });
  error_code error;
  context->use_certificate_chain_file(cert_file, error);
  if (error) {
    return make_error(ErrorCode::kIo, "--ssl-cert-file {}: expected a certificate in PEM, found: {}", cert_file,
                      error.message());
  }
  context->use_private_key_file(key_file, asio::ssl::context::pem, error);
  if (error) {
    return make_error(ErrorCode::kIo, "--ssl-key-file {}: expected the certificate's key in PEM, found: {}", key_file,
                      error.message());
  }
  return context;
}

}  // namespace ferrox
