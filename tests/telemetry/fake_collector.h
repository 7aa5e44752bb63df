// How does a test stand for a collector? An HTTP server of its own that keeps what it gets and answers as it is told.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ferrox::testing {

class FakeCollector {
 public:
  struct Post {
    std::string target;
    std::string content_type;
    std::string authorization;
    std::string body;
  };

  FakeCollector() : acceptor_(io_, {boost::asio::ip::make_address("127.0.0.1"), 0}) {
    thread_ = std::thread([this] { accept(); });
  }
  ~FakeCollector() {
    stops_ = true;
    {
      boost::asio::io_context io;
      boost::asio::ip::tcp::socket socket(io);
      boost::system::error_code ignored;
      socket.connect(acceptor_.local_endpoint(), ignored);  // so that accept returns
    }
    thread_.join();
    for (std::thread& connection : connections_) connection.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

  /// The next posts get these statuses, later ones 200.
  void answer_with(std::vector<int> statuses) {
    const std::lock_guard lock(mutex_);
    statuses_ = std::move(statuses);
  }

  /// Posts are taken and not answered from now on.
  void hang() { hangs_ = true; }

  /// Waits for n posts in all; gives what came.
  std::vector<Post> wait_for(size_t n) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::seconds(60), [&] { return posts_.size() >= n; });
    return posts_;
  }

 private:
  using Socket = boost::asio::ip::tcp::socket;

  void accept() {
    while (!stops_) {
      Socket socket(io_);
      boost::system::error_code error;
      acceptor_.accept(socket, error);
      if (error || stops_) continue;
      connections_.emplace_back([this, moved = std::move(socket)]() mutable { serve(moved); });
    }
  }

  void serve(Socket& socket) {
    namespace http = boost::beast::http;
    boost::beast::flat_buffer buffer;
    while (!stops_) {
      http::request<http::string_body> request;
      boost::system::error_code error;
      http::read(socket, buffer, request, error);
      if (error) return;
      const int status = keep({std::string(request.target()), std::string(request[http::field::content_type]),
                               std::string(request[http::field::authorization]), request.body()});
      if (hangs_) {
        char byte = 0;
        boost::asio::read(socket, boost::asio::buffer(&byte, 1), error);  // until the client gives up
        return;
      }
      http::response<http::string_body> response(static_cast<http::status>(status), 11);
      response.body() = "{}";
      response.prepare_payload();
      http::write(socket, response, error);
      if (error) return;
    }
  }

  int keep(Post post) {
    const std::lock_guard lock(mutex_);
    posts_.push_back(std::move(post));
    came_.notify_all();
    if (statuses_.empty()) return 200;
    const int status = statuses_.front();
    statuses_.erase(statuses_.begin());
    return status;
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Post> posts_;
  std::vector<int> statuses_;
  std::atomic<bool> stops_ = false;
  std::atomic<bool> hangs_ = false;
  std::vector<std::thread> connections_;
  std::thread thread_;
};

}  // namespace ferrox::testing
