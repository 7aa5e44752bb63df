// How are answers written, whole and in pieces, and how is the end of the client's side seen?
#include "server/http/socket_exchange.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <utility>

namespace ferrox {
namespace {

namespace http = boost::beast::http;

/// Bytes of one read while an answer is made. When the buffer has no room for it the watch stops: the end of the client
/// is then seen by the next write.
constexpr size_t kReadAheadBytes = 4096;

/// An answer of status 204 has none, nor headers that describe it (RFC 9110, 8.6).
bool has_content(const HttpResponse& response) { return response.status != 204; }

template <class Body>
void fill_head(http::response<Body>& message, const HttpResponse& response, const HttpRequest& request) {
  message.set(http::field::server, "ferrox");
  if (has_content(response)) message.set(http::field::content_type, response.content_type);
  message.set("x-request-id", request.id);
  for (const HttpHeader& header : response.headers) message.set(header.name, header.value);
}

}  // namespace

SocketExchange::SocketExchange(HttpStream& stream, boost::beast::flat_buffer& buffer, const HttpLimits& limits,
                               HttpRequest request, SocketExchangeOptions options)
    : stream_(stream),
      buffer_(buffer),
      limits_(limits),
      request_(std::move(request)),
      options_(options),
      watch_ended_(stream.get_executor()) {}

bool SocketExchange::record(const error_code& error, State next) {
  state_ = error ? State::kBroken : next;
  is_complete_ = state_ == State::kDone && !gone_;  // an answer to a client that left first was cut short
  return !error;
}

awaitable<bool> SocketExchange::respond(HttpResponse response) {
  request_.ticket.reset();  // before the client can know: its next request finds room
  http::response<http::string_body> message(static_cast<http::status>(response.status), options_.http_version);
  fill_head(message, response, request_);
  message.keep_alive(options_.keep_alive);
  message.body() = std::move(response.body);
  if (has_content(response)) message.prepare_payload();
  if (options_.head_only) message.body().clear();
  status_ = response.status;
  error_code_ = std::move(response.error_code);
  stream_.expires_after(limits_.write_timeout);
  const auto [error, n_bytes] = co_await http::async_write(stream_, message, kAwait);
  co_return record(error, State::kDone);
}

awaitable<bool> SocketExchange::begin_stream(HttpResponse head) {
  http::response<http::empty_body> message(static_cast<http::status>(head.status), options_.http_version);
  fill_head(message, head, request_);
  status_ = head.status;
  if (!chunked()) options_.keep_alive = false;  // the end of the connection is the end of the answer
  message.keep_alive(options_.keep_alive);
  message.chunked(chunked());
  http::response_serializer<http::empty_body> serializer(message);
  stream_.expires_after(limits_.write_timeout);
  const auto [error, n_bytes] = co_await http::async_write_header(stream_, serializer, kAwait);
  co_return record(error, State::kStreaming);
}

awaitable<bool> SocketExchange::write(std::string piece) {
  if (piece.empty()) co_return state_ == State::kStreaming;
  stream_.expires_after(limits_.write_timeout);
  error_code error;
  if (chunked()) {
    std::tie(error, std::ignore) =
        co_await asio::async_write(stream_, http::make_chunk(asio::const_buffer(piece.data(), piece.size())), kAwait);
  } else {
    std::tie(error, std::ignore) = co_await asio::async_write(stream_, asio::buffer(piece), kAwait);
  }
  co_return record(error, State::kStreaming);
}

awaitable<bool> SocketExchange::end_stream() {
  error_code error;
  if (chunked()) {
    stream_.expires_after(limits_.write_timeout);
    std::tie(error, std::ignore) = co_await asio::async_write(stream_, http::make_chunk_last(), kAwait);
  }
  co_return record(error, State::kDone);
}

void SocketExchange::watch_client(std::function<void()> on_gone) {
  on_gone_ = std::move(on_gone);
  if (on_gone_ == nullptr || watching_ || stopping_ || gone_) return;
  watching_ = true;
  stream_.expires_never();
  asio::co_spawn(stream_.get_executor(), watch(), asio::detached);
}

awaitable<void> SocketExchange::watch() {
  error_code error;
  while (!error && !stopping_ && buffer_.max_size() - buffer_.size() >= kReadAheadBytes) {
    size_t n_bytes = 0;
    std::tie(error, n_bytes) = co_await stream_.async_read_some(buffer_.prepare(kReadAheadBytes), kAwait);
    buffer_.commit(n_bytes);
  }
  watching_ = false;
  watch_ended_.cancel();
  if (!error || error == asio::error::operation_aborted) co_return;
  gone_ = true;
  if (on_gone_) on_gone_();
}

awaitable<void> SocketExchange::stop_watch() {
  on_gone_ = nullptr;
  stopping_ = true;
  if (!watching_) co_return;
  stream_.cancel();
  while (watching_) {
    watch_ended_.expires_at(asio::steady_timer::time_point::max());
    co_await watch_ended_.async_wait(kAwait);
  }
}

void SocketExchange::abort() {
  state_ = State::kBroken;
  gone_ = true;
  stream_.close();
}

}  // namespace ferrox
