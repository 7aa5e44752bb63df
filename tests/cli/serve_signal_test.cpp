// How does `ferrox serve` end on signals? The first lets running requests finish, a second ends it at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/main.h"
#include "server/raw_client.h"

namespace ferrox {
namespace {

using testing::http_request;
using testing::RawClient;

constexpr const char* kEndless = R"({"prompt": "Hi", "max_tokens": 4000, "ignore_eos": true, "stream": true, "n": 64})";

/// A server in a process of its own, with one long request running.
class BusyServer {
 public:
  BusyServer() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::fflush(nullptr);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      const char* argv[] = {"ferrox", "serve", "--port", "0", "-t", "1", "--drain-timeout", "600"};
      _exit(run_command_line(8, argv));
    }
    close(ends[1]);
    port_ = read_port(ends[0]);
    stderr_ = ends[0];
    client_ = std::make_unique<RawClient>(port_);
    client_->send(http_request("POST", "/v1/completions", kEndless));
    EXPECT_EQ(client_->read_head().status, 200);
  }
  ~BusyServer() {
    kill(child_, SIGKILL);
    close(stderr_);
  }

  void signal_and_wait_for_draining(int number) {
    kill(child_, number);
    while (health() == 200) {
    }
    EXPECT_EQ(health(), 503);
  }

  void send_signal(int number) { kill(child_, number); }
  void leave() { client_->close(); }

  /// The exit code; minus the signal where one ended it.
  int wait() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static uint16_t read_port(int from) {
    std::string said;
    char byte = 0;
    while (said.find("listening on") == std::string::npos || said.back() != '\n') {
      if (read(from, &byte, 1) != 1) break;
      said.push_back(byte);
    }
    return static_cast<uint16_t>(std::atoi(said.substr(said.rfind(':') + 1).c_str()));
  }

  int health() const {
    RawClient client(port_);
    client.send(http_request("GET", "/health"));
    return client.read_response().status;
  }

  pid_t child_ = 0;
  int stderr_ = -1;
  uint16_t port_ = 0;
  std::unique_ptr<RawClient> client_;
};

TEST(ServeSignals, OneLetsRunningRequestsFinish) {
  BusyServer server;
  server.signal_and_wait_for_draining(SIGTERM);
  server.leave();
  EXPECT_EQ(server.wait(), 0);
}

TEST(ServeSignals, ASecondOneEndsItAtOnceWithTheSignalsCode) {
  for (const int number : {SIGTERM, SIGINT}) {
    BusyServer server;
    server.signal_and_wait_for_draining(number);
    server.send_signal(number);  // the request that runs would take minutes, and is never left
    EXPECT_EQ(server.wait(), 128 + number);
  }
}

}  // namespace
}  // namespace ferrox
