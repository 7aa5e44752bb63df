// How does a test run a whole server? A real engine with the bundled model, a port of its own, a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "engine/engine.h"
#include "server/documented.h"
#include "server/json_text.h"
#include "server/raw_client.h"
#include "server/server.h"

namespace ferrox::testing {

struct RigOptions {
  EngineOptions engine;
  ServerOptions server;
};

class ServerRig {
 public:
  explicit ServerRig(RigOptions options = {}) {
    log().set_level(spdlog::level::warn);
    options.engine.n_threads = 1;
    auto loaded = Engine::load(options.engine);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    engine = std::move(*loaded);
    options.server.port = 0;
    options.server.handle_signals = false;
    auto opened = Server::open(*engine, options.server);
    if (!opened) throw std::runtime_error(opened.error().message);
    server = std::move(*opened);
    thread = std::thread([this] { server->run(); });
  }
  ~ServerRig() { stop(); }

  void stop() {
    if (!thread.joinable()) return;
    server->stop();
    thread.join();
  }

  uint16_t port() const { return server->port(); }

  /// One request on a connection of its own.
  RawResponse call(std::string_view method, std::string_view path, const Json& body = nullptr,
                   std::string_view headers = "") const {
    RawClient client(port());
    client.send(http_request(method, path, body.is_null() ? "" : dump_json(body), headers));
    RawResponse response = client.read_response();
    expect_documented(method, path, response);
    return response;
  }
  RawResponse complete(const Json& body) const { return call("POST", "/v1/completions", body); }
  RawResponse chat(const Json& body) const { return call("POST", "/v1/chat/completions", body); }

  /// Nothing runs, nothing waits, every page is free again.
  void expect_all_released() const {
    const auto busy = [this] {
      const EngineStatus status = engine->status();
      return status.n_running + status.n_queued > 0 ||
             status.n_pages_free + status.n_pages_cached != status.n_pages_total;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    bool is_released = !busy();
    while (!is_released && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
      is_released = !busy();
    }
    EXPECT_TRUE(is_released);
  }

  /// Waits until the engine looks as `expected` says.
  template <class Expected>
  void wait_for(Expected expected) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!expected(engine->status())) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the engine never got there";
      std::this_thread::yield();
    }
  }

  std::unique_ptr<Engine> engine;
  std::unique_ptr<Server> server;
  std::thread thread;
};

/// A server that many tests of one program share.
inline ServerRig& shared_server() {
  static ServerRig rig;
  return rig;
}

/// The JSON payloads of a stream's data events, without [DONE]; `done` tells whether it came last.
struct SseEvents {
  std::vector<Json> data;
  bool done = false;
};

inline SseEvents read_sse(std::string_view text) {
  SseEvents events;
  while (!text.empty()) {
    const size_t end = text.find("\n\n");
    EXPECT_NE(end, std::string_view::npos) << "an event without an end: " << text;
    if (end == std::string_view::npos) break;
    const std::string_view event = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (event.starts_with(":")) continue;
    EXPECT_FALSE(events.done) << "an event after [DONE]";
    EXPECT_TRUE(event.starts_with("data: ")) << event;
    if (event == "data: [DONE]") {
      events.done = true;
    } else {
      events.data.push_back(Json::parse(event.substr(6)));
    }
  }
  return events;
}

}  // namespace ferrox::testing
