// How does `ferrox serve` end on signals? The first lets running requests finish, a second ends it at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/main.h"
#include "server/raw_client.h"
#include "support/hanging_disk.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

using testing::http_request;
using testing::RawClient;
using testing::RawResponse;

/// A process of a server, and what it says.
class ServeProcess {
 public:
  explicit ServeProcess(const std::vector<std::string>& more_arguments) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::fflush(nullptr);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      std::vector<const char*> argv = {"ferrox", "serve", "--port", "0", "-t", "1"};
      for (const std::string& argument : more_arguments) argv.push_back(argument.c_str());
      _exit(run_command_line(static_cast<int>(argv.size()), argv.data()));
    }
    close(ends[1]);
    stderr_ = ends[0];
    read_until("listening on");
    read_until("\n");
    port_ = static_cast<uint16_t>(std::atoi(said_.substr(said_.rfind(':') + 1).c_str()));
  }
  ~ServeProcess() {
    kill(child_, SIGKILL);
    close(stderr_);
  }

  uint16_t port() const { return port_; }
  void send_signal(int number) const { kill(child_, number); }

  /// The exit code; minus the signal where one ended it.
  int wait() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  /// All that it said until its end.
  std::string said_to_the_end() {
    while (read_byte()) {
    }
    return said_;
  }

  RawResponse post(const char* path, const std::string& body) const { return call("POST", path, body); }
  RawResponse get(const char* path) const { return call("GET", path, ""); }

 private:
  RawResponse call(const char* method, const char* path, const std::string& body) const {
    RawClient client(port_);
    client.send(http_request(method, path, body));
    return client.read_response();
  }
  bool read_byte() {
    char byte = 0;
    if (read(stderr_, &byte, 1) != 1) return false;
    said_.push_back(byte);
    return true;
  }
  void read_until(const std::string& end) {
    while (!said_.ends_with(end) && read_byte()) {
    }
  }

  pid_t child_ = 0;
  int stderr_ = -1;
  uint16_t port_ = 0;
  std::string said_;
};

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

/// Whatever the disk does: the process ends in time, and a session that it didn't take whole isn't there afterwards.
TEST(ServeSignals, ADiskThatHangsIsntWaitedForAndLeavesNoHalfSession) {
  const testing::TempFolder folder;
  const std::vector<std::string> arguments = {"--kv-disk", folder / "kv", "--drain-timeout", "1"};
  const std::string prompt = R"("prompt": "Once upon a time there was a session that was never written to the disk")";
  ServeProcess server(arguments);
  const testing::HangingDisk disk(folder / "kv");
  EXPECT_EQ(server.post("/v1/completions", "{" + prompt + R"(, "max_tokens": 40, "ignore_eos": true})").status, 200);
  RawClient saver(server.port());
  saver.send(http_request("POST", "/v1/sessions", "{" + prompt + "}"));
  while (server.get("/metrics").body.find("\nferrox_kv_pages_used 0\n") != std::string::npos) {
  }  // until the save holds its pages
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  EXPECT_EQ(saver.read_response().status, 0);
  const std::string said = server.said_to_the_end();
  EXPECT_NE(said.find("the disk doesn't answer"), std::string::npos) << said;
  ServeProcess later(arguments);
  const RawResponse sessions = later.get("/v1/sessions");
  EXPECT_EQ(sessions.status, 200);
  EXPECT_NE(sessions.body.find("\"data\":[]"), std::string::npos) << sessions.body;
}

}  // namespace
}  // namespace ferrox
