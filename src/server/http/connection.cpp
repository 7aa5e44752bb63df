// How is a connection read: header, early refusal, body, answer, next request?
#include "server/http/connection.h"

#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "server/http/request_head.h"
#include "server/http/socket_exchange.h"

namespace ferrox {
namespace {

namespace http = boost::beast::http;

/// Bytes that one read beside or after a request may bring.
constexpr size_t kReadBytes = 4096;

/// Status for an error while reading; 0: the client is gone or silent, and there is nobody to tell.
int status_of_read_error(const error_code& error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  return error.category() == http::make_error_code(http::error::bad_method).category() ? 400 : 0;
}

}  // namespace

Connection::Connection(tcp::socket socket, asio::ssl::context* tls, HttpService& service, const HttpLimits& limits,
                       ConnectionSet& set)
    : stream_(std::move(socket), tls),
      buffer_(limits.max_header_bytes + kReadBytes),
      service_(service),
      limits_(limits),
      set_(set) {
  set_.add(this);
}

Connection::~Connection() { set_.remove(this); }

void Connection::close() { stream_.close(); }

awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  try {
    bool goes_on = co_await handshake();
    while (goes_on) goes_on = co_await serve_one();
  } catch (const std::exception& error) {
    log_fields(spdlog::level::err, "connection failed", {{"request_id", request_id_}, {"error", error.what()}});
  }
  busy_ = false;
  co_await stream_.finish(limits_.linger_timeout);
}

/// Whoever speaks another language than TLS, or none, is let go.
awaitable<bool> Connection::handshake() {
  stream_.expires_after(limits_.handshake_timeout);
  const error_code error = co_await stream_.handshake();
  if (error) co_await stream_.linger(limits_.linger_timeout);
  co_return !error;
}

awaitable<bool> Connection::refuse_transport(HttpRequest head, int status, std::string message) {
  if (status == 0) {
    service_.finished(head, HttpOutcome{});
    co_return false;
  }
  HttpResponse response = service_.transport_error(head, status, message);
  co_return co_await refuse_unread(std::move(head), std::move(response));
}

/// Answers a request whose body wasn't read: the connection ends, after the client had time to see why.
awaitable<bool> Connection::refuse_unread(HttpRequest head, HttpResponse response) {
  SocketExchangeOptions options;
  options.keep_alive = false;
  SocketExchange exchange(stream_, buffer_, limits_, std::move(head), options);
  const bool is_sent = co_await exchange.respond(std::move(response));
  service_.finished(exchange.request(), exchange.outcome());
  if (is_sent) co_await stream_.linger(limits_.linger_timeout);
  co_return false;
}

/// What frames chunks counts as the body does: extensions and trailers are nothing that anyone has asked for. A fault
/// of status 0: the client is gone.
awaitable<std::optional<TransportFault>> Connection::read_body(RequestParser& parser, HttpRequest& request) {
  const size_t most = std::min(limits_.max_body_bytes, request.most_body_bytes);
  if (const auto announced = parser.content_length().value_or(0); announced > most) {
    co_return TransportFault{413, fmt::format("http body: expected at most {} bytes, found {}", most, announced)};
  }
  parser.body_limit(most);
  if (equal_ignoring_case(request.header("expect"), "100-continue")) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(stream_, asio::buffer(kContinue), kAwait);
  }
  stream_.expires_after(limits_.body_timeout);
  auto share = std::make_shared<BodyShare>(set_, limits_.max_bodies_bytes);
  size_t n_read = 0;
  while (!parser.is_done()) {
    auto [error, n_bytes] = co_await http::async_read_some(stream_, buffer_, parser, kAwait);
    n_read += n_bytes;
    if (!error && n_read > most + limits_.max_header_bytes) error = http::make_error_code(http::error::body_limit);
    if (error) co_return TransportFault{status_of_read_error(error), "http body: " + error.message()};
    if (!share->resize(n_read)) co_return TransportFault{503, "too many large requests at once"};
  }
  request.body = std::move(parser.get().body());
  request.n_body_bytes = request.body.size();
  share->resize(request.n_body_bytes);
  request.body_share = std::move(share);
  co_return std::nullopt;
}

awaitable<bool> Connection::serve_one() {
  busy_ = false;
  waiting_since_ = std::chrono::steady_clock::now();
  if (!fresh_ && !service_.keep_alive() && buffer_.size() == 0) co_return false;
  RequestParser parser;
  parser.header_limit(static_cast<std::uint32_t>(limits_.max_header_bytes));
  parser.body_limit(limits_.max_body_bytes);
  stream_.expires_after(limits_.idle_timeout);
  {
    const auto [error, n_bytes] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
    const int status = status_of_read_error(error);
    if (error && status == 0) co_return false;
    if (error) {
      HttpRequest partly_read = read_head(parser);
      std::string message = "http request: " + error.message();
      co_return co_await refuse_transport(std::move(partly_read), status, std::move(message));
    }
  }
  busy_ = true;
  fresh_ = false;
  HttpRequest request = read_head(parser);
  request_id_ = request.id;
  if (auto fault = fault_of_head(parser, request)) {
    co_return co_await refuse_transport(std::move(request), fault->status, std::move(fault->message));
  }
  SocketExchangeOptions options;
  options.http_version = parser.get().version();
  options.keep_alive = parser.get().keep_alive() && service_.keep_alive();
  options.head_only = request.method == "HEAD";

  std::optional<HttpResponse> refusal = service_.refuse(request);
  const bool has_body = parser.chunked() || parser.content_length().value_or(0) > 0;
  if (refusal && has_body) co_return co_await refuse_unread(std::move(request), std::move(*refusal));
  if (has_body) {
    if (auto fault = co_await read_body(parser, request)) {
      co_return co_await refuse_transport(std::move(request), fault->status, std::move(fault->message));
    }
  }

  SocketExchange exchange(stream_, buffer_, limits_, std::move(request), options);
  if (refusal) {
    co_await exchange.respond(std::move(*refusal));
  } else {
    co_await service_.serve(exchange);
  }
  co_await exchange.stop_watch();
  service_.finished(exchange.request(), exchange.outcome());
  co_return exchange.reusable();
}

}  // namespace ferrox
