// How does a test speak TLS? As a RawClient whose bytes go through OpenSSL; any certificate will do.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string_view>

#include "server/raw_client.h"

namespace ferrox::testing {

class TlsClient : public RawClient {
 public:
  /// `version`: the only one that it speaks; 0: any that OpenSSL does.
  explicit TlsClient(uint16_t port, int version = 0, int receive_buffer_bytes = 0)
      : RawClient(port, receive_buffer_bytes), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    SSL_CTX_set_security_level(context_.get(), 0);  // or it wouldn't offer what the server must refuse
    if (version != 0) {
      SSL_CTX_set_min_proto_version(context_.get(), version);
      SSL_CTX_set_max_proto_version(context_.get(), version);
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), fd());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }
  ~TlsClient() override { ssl_.reset(); }

  bool connected() const { return connected_; }
  SSL* ssl() { return ssl_.get(); }

  /// What the last read found: SSL_ERROR_ZERO_RETURN after the server said that it ends.
  int last_error() const { return last_error_; }

 protected:
  ssize_t write_some(std::string_view bytes) override {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  ssize_t read_some(char* bytes, size_t n) override {
    const int n_read = SSL_read(ssl_.get(), bytes, static_cast<int>(n));
    last_error_ = n_read > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), n_read);
    return n_read;
  }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  std::unique_ptr<SSL, Free> ssl_;
  bool connected_ = false;
  int last_error_ = SSL_ERROR_NONE;
};

}  // namespace ferrox::testing
