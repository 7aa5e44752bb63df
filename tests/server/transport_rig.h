// How does a test run the transport alone? With a small service of its own, on a thread of its own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/http/connection.h"
#include "server/http/listener.h"

namespace ferrox::testing {

/// /echo sends the body back, /small too if it has up to 100 bytes, /watched too while the client is watched, /nothing
/// says 204, /stream sends three pieces, /wait forgets the body and waits until the client leaves, /flood writes until
/// it can't.
class ProbeService : public HttpService {
 public:
  explicit ProbeService(asio::io_context& io) : io_(io) {}

  std::optional<HttpResponse> refuse(HttpRequest& head) override {
    if (head.path == "/small") head.most_body_bytes = 100;
    if (head.path != "/refused") return std::nullopt;
    return HttpResponse{403, "text/plain", {}, "no"};
  }

  awaitable<void> serve(Exchange& exchange) override {
    const std::string& path = exchange.request().path;
    if (path == "/stream") return stream(exchange);
    if (path == "/wait") return wait(exchange);
    if (path == "/flood") return flood(exchange);
    if (path == "/watched") return watched(exchange);
    if (path == "/nothing") return nothing(exchange);
    return echo(exchange);
  }

  HttpResponse transport_error(const HttpRequest& request, int status, const std::string& message) const override {
    return {status, "text/plain", {{"x-probe-id", request.id}}, message};
  }

  void finished(const HttpRequest& request, const HttpOutcome& outcome) override {
    const std::lock_guard lock(mutex);
    ended.push_back({request.method, request.path, request.id, outcome});
  }

  bool keep_alive() const override { return true; }

  struct Ended {
    std::string method;
    std::string path;
    std::string id;
    HttpOutcome outcome;
  };
  std::mutex mutex;
  std::vector<Ended> ended;  ///< guarded by mutex

  std::promise<void> waiting;    ///< set when /wait has begun
  std::promise<void> gone;       ///< set when /wait's client has left
  std::promise<size_t> flooded;  ///< bytes that /flood could write

 private:
  awaitable<void> echo(Exchange& exchange) {
    HttpResponse response;
    response.content_type = "text/plain";
    response.body = exchange.request().method + " " + exchange.request().path + "|" + exchange.request().query + "|" +
                    exchange.request().body;
    co_await exchange.respond(std::move(response));
  }

  awaitable<void> stream(Exchange& exchange) {
    HttpResponse head;
    head.content_type = "text/plain";
    co_await exchange.begin_stream(std::move(head));
    for (const char* piece : {"one", "", "two", "three"}) co_await exchange.write(piece);
    co_await exchange.end_stream();
  }

  awaitable<void> nothing(Exchange& exchange) {
    HttpResponse response;
    response.status = 204;
    co_await exchange.respond(std::move(response));
  }

  awaitable<void> wait(Exchange& exchange) {
    exchange.request().drop_body();
    asio::steady_timer timer(io_, asio::steady_timer::time_point::max());
    exchange.watch_client([&] { timer.cancel(); });
    waiting.set_value();
    co_await timer.async_wait(kAwait);
    if (exchange.client_gone()) gone.set_value();
  }

  awaitable<void> watched(Exchange& exchange) {
    exchange.watch_client([] {});
    asio::steady_timer timer(io_, std::chrono::milliseconds(1));
    co_await timer.async_wait(kAwait);
    co_await echo(exchange);
  }

  awaitable<void> flood(Exchange& exchange) {
    HttpResponse head;
    co_await exchange.begin_stream(std::move(head));
    size_t n_bytes = 0;
    std::string piece(64 * 1024, 'x');
    while (co_await exchange.write(piece)) n_bytes += piece.size();
    flooded.set_value(n_bytes);
  }

  asio::io_context& io_;
};

class TransportRig {
 public:
  /// `tls` (nullptr: plain) outlives the rig.
  explicit TransportRig(HttpLimits given = {}, asio::ssl::context* tls = nullptr) : limits(given), service(io) {
    listener = *Listener::open(io.get_executor(), "127.0.0.1", 0, service, limits, tls);
    listener->start();
    thread = std::thread([this] { io.run(); });
  }
  ~TransportRig() {
    asio::post(io, [this] {
      listener->stop();
      listener->connections().close_all();
    });
    thread.join();
  }

  uint16_t port() const { return listener->port(); }

  /// Runs `look` on the I/O thread.
  template <class Look>
  auto on_io_thread(Look look) {
    std::promise<decltype(look())> result;
    asio::post(io, [&] { result.set_value(look()); });
    return result.get_future().get();
  }
  size_t n_busy() {
    return on_io_thread([this] { return listener->connections().n_busy(); });
  }
  size_t n_body_bytes() {
    return on_io_thread([this] { return listener->connections().n_body_bytes(); });
  }
  size_t n_connections() {
    return on_io_thread([this] { return listener->connections().size(); });
  }

  HttpLimits limits;
  asio::io_context io{1};
  ProbeService service;
  std::unique_ptr<Listener> listener;
  std::thread thread;
};

}  // namespace ferrox::testing
