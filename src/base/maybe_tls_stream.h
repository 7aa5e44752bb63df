// Over what do a connection's bytes go? TCP, plain or through TLS: nobody above sees which.
#pragma once

#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace ferrox {

/// An AsyncStream as Beast has it; reads and writes go through `Tls`, a stream over tcp_, once there is one. Time
/// limits are those of beast::tcp_stream: set before an operation, they hold for all that the operation does below.
template <class Tls>
class MaybeTlsStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;

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

 protected:
  /// `owner`: an executor, a context or a connected socket.
  template <class Owner>
  explicit MaybeTlsStream(Owner&& owner) : tcp_(std::forward<Owner>(owner)) {}
  ~MaybeTlsStream() = default;

  boost::beast::tcp_stream tcp_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace ferrox
