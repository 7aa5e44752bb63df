// How does a test talk to a server? With a socket of its own, byte by byte, so that nothing is polite by accident.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ferrox::testing {

struct RawResponse {
  int status = 0;                              ///< 0: none came
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;                            ///< without chunk framing
  bool complete = false;                       ///< ended as its headers promise
};

/// How a client goes away.
enum class Farewell { kClose, kHalfClose, kReset };

/// A blocking connection to 127.0.0.1. Reads give up after 120 s: a hung server fails a test instead of stopping it.
class RawClient {
 public:
  explicit RawClient(uint16_t port, int receive_buffer_bytes = 0) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer_bytes > 0) set_option(SO_RCVBUF, receive_buffer_bytes);
    const timeval limit{120, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  virtual ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void half_close() { ::shutdown(fd_, SHUT_WR); }
  /// Ends with a reset instead of a farewell.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }

  /// False when the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write_some(bytes);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  void leave(Farewell farewell) {
    if (farewell == Farewell::kClose) close();
    if (farewell == Farewell::kHalfClose) half_close();
    if (farewell == Farewell::kReset) reset();
  }

  /// True while more bytes may come; they are appended to unread().
  bool receive() {
    char bytes[16384];
    ssize_t n = 0;
    do {
      n = read_some(bytes, sizeof bytes);
    } while (n < 0 && errno == EINTR);  // as after the whole program was stopped and went on
    if (n > 0) unread_.append(bytes, static_cast<size_t>(n));
    return n > 0;
  }

  /// Everything up to and with `mark`; what came, when the connection ends before.
  std::string read_until(std::string_view mark) {
    for (;;) {
      if (const size_t found = unread_.find(mark); found != std::string::npos) return take(found + mark.size());
      if (!receive()) return take(unread_.size());
    }
  }

  RawResponse read_response(bool head_only = false) {
    RawResponse response = read_head();
    if (response.status == 0) return response;
    if (head_only || response.status == 100 || response.status == 204) {
      response.complete = true;
    } else if (response.headers.contains("content-length")) {
      const auto n = static_cast<size_t>(std::strtoull(response.headers["content-length"].c_str(), nullptr, 10));
      while (unread_.size() < n && receive()) {
      }
      response.complete = unread_.size() >= n;
      response.body = take(n);
    } else if (response.headers.contains("transfer-encoding")) {
      read_chunks(response);
    } else {
      while (receive()) {
      }
      response.body = take(unread_.size());
      response.complete = true;
    }
    return response;
  }

  /// Status line and headers only.
  RawResponse read_head() {
    RawResponse response;
    const std::string head = read_until("\r\n\r\n");
    if (!head.starts_with("HTTP/1.")) return response;
    response.status = std::atoi(head.c_str() + 9);
    size_t at = head.find("\r\n") + 2;
    while (at + 2 < head.size()) {
      const size_t end = head.find("\r\n", at);
      const size_t colon = head.find(':', at);
      if (colon == std::string::npos || colon > end) break;
      std::string name = head.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      response.headers[name] = head.substr(colon + 2, end - colon - 2);
      at = end + 2;
    }
    return response;
  }

  /// The next chunk's payload; empty at the end of the answer or of the connection.
  std::string read_chunk() {
    const std::string size_line = read_until("\r\n");
    const auto n = static_cast<size_t>(std::strtoull(size_line.c_str(), nullptr, 16));
    while (unread_.size() < n + 2 && receive()) {
    }
    const std::string chunk = take(n);
    take(2);
    return chunk;
  }

  /// Nothing more comes: the server closed.
  bool at_end() { return unread_.empty() && !receive(); }
  std::string& unread() { return unread_; }

 protected:
  virtual ssize_t write_some(std::string_view bytes) { return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  virtual ssize_t read_some(char* bytes, size_t n) { return ::recv(fd_, bytes, n, 0); }
  int fd() const { return fd_; }

 private:
  void set_option(int name, int value) { ::setsockopt(fd_, SOL_SOCKET, name, &value, sizeof value); }

  std::string take(size_t n) {
    std::string taken = unread_.substr(0, n);
    unread_.erase(0, n);
    return taken;
  }

  void read_chunks(RawResponse& response) {
    for (;;) {
      const std::string size_line = read_until("\r\n");
      if (size_line.empty()) return;
      const auto n = static_cast<size_t>(std::strtoull(size_line.c_str(), nullptr, 16));
      while (unread_.size() < n + 2 && receive()) {
      }
      if (unread_.size() < n + 2) return;
      response.body += take(n);
      take(2);
      if (n == 0) break;
    }
    response.complete = true;
  }

  int fd_ = -1;
  std::string unread_;
};

/// A request with the headers that every client sends.
inline std::string http_request(std::string_view method, std::string_view path, std::string_view body = "",
                                std::string_view more_headers = "") {
  std::string text;
  text.append(method).append(" ").append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n").append(more_headers);
  if (!body.empty()) text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  return text.append("\r\n").append(body);
}

}  // namespace ferrox::testing
