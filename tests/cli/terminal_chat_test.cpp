// Does chat behave on a real terminal: editing, history, Ctrl-C and Ctrl-D? A child holds the conversation on a
// pseudo terminal, the test types.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/chat_loop.h"

namespace ferrox {
namespace {

constexpr int kDeadlineMs = 60'000;  // reached only when something hangs

/// Echoes the last message; "forever" goes on until Ctrl-C.
Result<Answer> echo(const std::vector<ChatMessage>& messages, const InterruptGuard& interrupts) {
  const std::string& text = messages.back().content;
  std::printf("<<%s>>\n", text.c_str());
  std::fflush(stdout);
  while (text == "forever" && interrupts.count() == 0) poll(nullptr, 0, 1);
  Answer answer{};
  answer.text = text;
  answer.reason = interrupts.count() > 0 ? FinishReason::kCancelled : FinishReason::kStop;
  return answer;
}

[[noreturn]] void hold_conversation() {
  InterruptGuard interrupts;
  ChatSession session([&](const auto& messages, uint64_t) { return echo(messages, interrupts); }, "", 1);
  ExitCode code{};
  {
    LineEditor editor("");
    code = ChatLoop(session, editor, interrupts).run();
  }
  std::printf("messages: %zu\n", session.messages().size());
  std::fflush(stdout);
  _exit(static_cast<int>(code));
}

class TerminalChat : public ::testing::Test {
 protected:
  void SetUp() override {
    child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ < 0 && errno == ENOENT) GTEST_SKIP() << "no pseudo terminals here";
    ASSERT_GE(child_, 0) << std::strerror(errno);
    if (child_ == 0) {
      setenv("TERM", "vt100", 1);
      hold_conversation();
    }
  }

  void TearDown() override {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    if (terminal_ >= 0) close(terminal_);
  }

  void type(const std::string& keys) {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  /// Reads until `text` has come after everything awaited before.
  void await(const std::string& text) {
    while (true) {
      const size_t found = screen_.find(text, seen_);
      if (found != std::string::npos) {
        seen_ = found + text.size();
        return;
      }
      if (!read_more()) FAIL() << "waited for '" << text << "', found '" << screen_.substr(seen_) << "'";
    }
  }

  int exit_code() {
    while (read_more()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
  }

 private:
  bool read_more() {
    pollfd ready{terminal_, POLLIN, 0};
    if (poll(&ready, 1, kDeadlineMs) <= 0) return false;
    char buffer[4096];
    const ssize_t n_bytes = read(terminal_, buffer, sizeof buffer);
    if (n_bytes <= 0) return false;
    screen_.append(buffer, static_cast<size_t>(n_bytes));
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  std::string screen_;
  size_t seen_ = 0;
};

TEST_F(TerminalChat, ALineIsEditedBeforeItIsSent) {
  await("> ");
  type("helxx\x7f\x7flo\r");
  await("<<hello>>");
  await("> ");
  type("\x04");
  await("messages: 2");
  EXPECT_EQ(exit_code(), 0);
}

TEST_F(TerminalChat, TheUpKeyBringsBackALine) {
  await("> ");
  type("first\r");
  await("<<first>>");
  await("> ");
  type("\x10\r");  // Ctrl-P, which the arrow is bound to on every terminal
  await("<<first>>");
  await("> ");
  type("/quit\r");
  await("messages: 4");
  EXPECT_EQ(exit_code(), 0);
}

TEST_F(TerminalChat, TextBeyondAsciiArrivesWhole) {
  await("> ");
  type("h\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC\r");
  await("<<h\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC>>");
}

TEST_F(TerminalChat, CtrlCDropsTheLineAndTwiceQuits) {
  await("> ");
  type("half a line\x03");
  await("Ctrl-C again quits");
  await("> ");
  type("whole\r");
  await("<<whole>>");
  await("> ");
  type("\x03");
  await("Ctrl-C again quits");
  await("> ");
  type("\x03");
  await("messages: 2");
  EXPECT_EQ(exit_code(), 0);
}

TEST_F(TerminalChat, CtrlCEndsTheAnswerAndNotTheProgram) {
  await("> ");
  type("forever\r");
  await("<<forever>>");
  type("\x03");
  await("> ");
  type("next\r");
  await("<<next>>");
  await("> ");
  type("\x04");
  await("messages: 4");
  EXPECT_EQ(exit_code(), 0);
}

}  // namespace
}  // namespace ferrox
