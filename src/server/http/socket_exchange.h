// How is an exchange carried by a socket? Writes with a time limit, and a read beside them that notices the end.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>

#include "server/http/exchange.h"
#include "server/http/http_stream.h"
#include "server/http/limits.h"

namespace ferrox {

struct SocketExchangeOptions {
  unsigned http_version = 11;  ///< 10 or 11
  bool keep_alive = true;      ///< the client's wish
  bool head_only = false;      ///< a HEAD request: the body is measured and not sent
};

class SocketExchange : public Exchange {
 public:
  /// `stream`, `buffer` and `limits` outlive the exchange. Bytes that arrive meanwhile are appended to `buffer`.
  SocketExchange(HttpStream& stream, boost::beast::flat_buffer& buffer, const HttpLimits& limits, HttpRequest request,
                 SocketExchangeOptions options);

  const HttpRequest& request() const override { return request_; }
  HttpRequest& request() override { return request_; }
  awaitable<bool> respond(HttpResponse response) override;
  awaitable<bool> begin_stream(HttpResponse head) override;
  awaitable<bool> write(std::string piece) override;
  awaitable<bool> end_stream() override;
  bool answered() const override { return state_ != State::kWaiting; }
  void watch_client(std::function<void()> on_gone) override;
  bool client_gone() const override { return gone_; }
  void abort() override;

  HttpOutcome outcome() const { return {status_, is_complete_, error_code_}; }

  /// Ends the watch; must be awaited before the exchange is destroyed.
  awaitable<void> stop_watch();

  /// The answer was sent whole and the connection can carry another request.
  bool reusable() const { return state_ == State::kDone && options_.keep_alive && !gone_; }

 private:
  enum class State { kWaiting, kStreaming, kDone, kBroken };

  awaitable<void> watch();
  bool chunked() const { return options_.http_version == 11; }
  bool record(const error_code& error, State next);

  HttpStream& stream_;
  boost::beast::flat_buffer& buffer_;
  const HttpLimits& limits_;
  HttpRequest request_;
  SocketExchangeOptions options_;
  State state_ = State::kWaiting;
  bool is_complete_ = false;
  int status_ = 0;  ///< of the status line that was sent
  std::string error_code_;
  bool gone_ = false;
  bool watching_ = false;
  bool stopping_ = false;
  std::function<void()> on_gone_;
  asio::steady_timer watch_ended_;  ///< cancelled when the watch has returned
};

}  // namespace ferrox
