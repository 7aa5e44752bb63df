#include "server/http/http_stream.h"

#include <array>
#include <memory>
#include <utility>

namespace ferrox {

HttpStream::HttpStream(tcp::socket socket, asio::ssl::context* tls) : MaybeTlsStream(std::move(socket)) {
  if (tls != nullptr) tls_ = std::make_unique<decltype(tls_)::element_type>(tcp_, *tls);
}

awaitable<error_code> HttpStream::handshake() {
  if (tls_ == nullptr) co_return error_code();
  const auto [error] = co_await tls_->next_layer().async_handshake(asio::ssl::stream_base::server, kAwait);
  co_return error;
}

awaitable<void> HttpStream::say_end() {
  if (tls_ != nullptr) co_await tls_->next_layer().async_shutdown(kAwait);
}

awaitable<void> HttpStream::linger(std::chrono::milliseconds longest) {
  expires_after(longest);
  co_await say_end();
  error_code error;
  tcp_.socket().shutdown(tcp::socket::shutdown_send, error);
  std::array<char, 4096> dropped;
  while (!error) std::tie(error, std::ignore) = co_await tcp_.async_read_some(asio::buffer(dropped), kAwait);
}

awaitable<void> HttpStream::finish(std::chrono::milliseconds longest) {
  expires_after(longest);
  co_await say_end();
  error_code ignored;
  tcp_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  tcp_.close();
}

}  // namespace ferrox
