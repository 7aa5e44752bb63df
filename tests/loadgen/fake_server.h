// How does a test play a server that misbehaves? With a script: what is written on each connection before it is closed.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ferrox::testing {

/// What becomes of a connection once its script is written.
enum class Afterwards {
  kClose,
  kKeepOpen,
  kNextRequest,  ///< it is read, and answered, before another connection is
};

struct Script {
  std::string bytes;
  Afterwards afterwards = Afterwards::kClose;
};

/// Serves connections one after another on a thread of its own. Held connections end with the server.
class FakeServer {
 public:
  /// `answer` gets the whole request, on the server's thread.
  explicit FakeServer(std::function<Script(const std::string&)> answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 128), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    for (const int fd : held_) ::close(fd);
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string port() const { return std::to_string(port_); }
  int n_connections() const { return n_connections_; }

  /// All requests so far, head and body.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    for (int fd = 0; (fd = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      ++n_connections_;
      Script script;
      do {
        const std::string request = read_request(fd);
        if (request.empty()) break;
        {
          const std::lock_guard lock(mutex_);
          requests_.push_back(request);
        }
        script = answer_(request);
        ::send(fd, script.bytes.data(), script.bytes.size(), MSG_NOSIGNAL);
      } while (script.afterwards == Afterwards::kNextRequest);
      if (script.afterwards == Afterwards::kKeepOpen) {
        held_.push_back(fd);
      } else {
        ::close(fd);
      }
    }
  }

  /// Head and body; what came, where the client left before.
  static std::string read_request(int fd) {
    std::string request;
    char bytes[16384];
    for (;;) {
      const size_t end = request.find("\r\n\r\n");
      const size_t length = request.find("Content-Length: ");
      if (end != std::string::npos && length != std::string::npos) {
        const size_t n_body = std::strtoull(request.c_str() + length + 16, nullptr, 10);
        if (request.size() >= end + 4 + n_body) return request;
      }
      const ssize_t n = ::recv(fd, bytes, sizeof bytes, 0);
      if (n <= 0) return request;
      request.append(bytes, static_cast<size_t>(n));
    }
  }

  std::function<Script(const std::string&)> answer_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<int> n_connections_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<int> held_;
  std::thread thread_;
};

inline constexpr const char* kStreamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// A chunk of a completion with `text`.
inline std::string text_event(std::string_view text) {
  return "data: {\"choices\":[{\"text\":\"" + std::string(text) + "\"}]}\n\n";
}

/// The same stream in chunks, so that its end isn't the connection's.
inline std::string in_chunks(std::string answer) {
  const size_t head = answer.find("\r\n\r\n");
  std::string text = answer.substr(0, head) + "\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = answer.substr(head + 4);
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", body.size());
  return text + size + body + "\r\n0\r\n\r\n";
}

/// An answer of one word, with usage.
inline std::string good_answer() {
  return kStreamHead + text_event("one") + text_event(" two") +
         "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n"
         "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,"
         "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n";
}

}  // namespace ferrox::testing
