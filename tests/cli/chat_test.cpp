// Does a conversation keep what it should, and do its commands do what they say?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/chat_loop.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;

/// Answers with the number of messages and the seed; fails when the last message is "fail".
Result<Answer> count_messages(const std::vector<ChatMessage>& messages, uint64_t seed) {
  if (messages.back().content == "fail")
    return Error{ErrorCode::kContextLength, "prompt is too long: 9 tokens > 4 maximum"};
  Answer answer{};
  answer.text = std::to_string(messages.size()) + " messages, seed " + std::to_string(seed);
  answer.reason = FinishReason::kStop;
  return answer;
}

std::vector<std::string> contents(const ChatSession& session) {
  std::vector<std::string> list;
  for (const auto& message : session.messages()) list.push_back(message.role + ": " + message.content);
  return list;
}

TEST(ChatSession, KeepsTurnsInOrder) {
  ChatSession session(count_messages, "be brief", 10);
  ASSERT_TRUE(session.ask("a"));
  ASSERT_TRUE(session.ask("b"));
  EXPECT_EQ(contents(session),
            (std::vector<std::string>{"system: be brief", "user: a", "assistant: 2 messages, seed 10", "user: b",
                                      "assistant: 4 messages, seed 11"}));
}

TEST(ChatSession, AFailedAnswerLeavesNoTrace) {
  ChatSession session(count_messages, "", 1);
  ASSERT_TRUE(session.ask("a"));
  const auto before = contents(session);
  EXPECT_FALSE(session.ask("fail"));
  EXPECT_EQ(contents(session), before);
}

TEST(ChatSession, RegenerateReplacesTheLastAnswerWithAnotherSeed) {
  ChatSession session(count_messages, "", 1);
  EXPECT_FALSE(session.regenerate());
  ASSERT_TRUE(session.ask("a"));
  ASSERT_TRUE(session.regenerate());
  EXPECT_EQ(contents(session), (std::vector<std::string>{"user: a", "assistant: 1 messages, seed 2"}));
}

TEST(ChatSession, ClearKeepsTheSystemMessageAndSystemReplacesIt) {
  ChatSession session(count_messages, "s", 1);
  ASSERT_TRUE(session.ask("a"));
  session.clear();
  EXPECT_EQ(contents(session), (std::vector<std::string>{"system: s"}));
  session.set_system("t");
  EXPECT_EQ(contents(session), (std::vector<std::string>{"system: t"}));
  session.set_system("");
  EXPECT_TRUE(session.messages().empty());
}

TEST(ChatSession, SaveWritesMessages) {
  const std::string path = ::testing::TempDir() + "ferrox_saved.json";
  ChatSession session(count_messages, "s", 1);
  ASSERT_TRUE(session.ask("a \"quoted\" \xff"));
  ASSERT_TRUE(session.save(path));
  const auto json = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(json["messages"].size(), 3u);
  EXPECT_EQ(json["messages"][0]["role"], "system");
  EXPECT_EQ(json["messages"][1]["content"], "a \"quoted\" \xEF\xBF\xBD");
  EXPECT_FALSE(session.save("/no/such/folder/x.json"));
  std::filesystem::remove(path);
}

/// What the loop does with `input` on a pipe.
struct LoopResult {
  ExitCode exit_code;
  std::string err;
  std::vector<std::string> messages;
};

LoopResult run_loop(const std::string& input) {
  std::istringstream stream(input);
  std::streambuf* const previous = std::cin.rdbuf(stream.rdbuf());
  std::cin.clear();
  ::testing::internal::CaptureStderr();
  ChatSession session(count_messages, "", 1);
  LineEditor editor("");
  InterruptGuard interrupts;
  const ExitCode exit_code = ChatLoop(session, editor, interrupts).run();
  std::cin.rdbuf(previous);
  std::cin.clear();
  return {exit_code, ::testing::internal::GetCapturedStderr(), contents(session)};
}

TEST(ChatLoop, AnswersLinesUntilTheInputEnds) {
  const auto result = run_loop("a\n\n  \n b \r\n");
  EXPECT_EQ(result.exit_code, ExitCode::kSuccess);
  EXPECT_EQ(result.messages, (std::vector<std::string>{"user: a", "assistant: 1 messages, seed 1", "user: b",
                                                       "assistant: 3 messages, seed 2"}));
}

TEST(ChatLoop, QuitEndsAtOnce) { EXPECT_TRUE(run_loop("/quit\na\n").messages.empty()); }

TEST(ChatLoop, CommandsWork) {
  EXPECT_EQ(run_loop("a\n/clear\n").messages, (std::vector<std::string>{}));
  EXPECT_EQ(run_loop("/system you are terse\n").messages, (std::vector<std::string>{"system: you are terse"}));
  EXPECT_EQ(run_loop("a\n/regen\n").messages, (std::vector<std::string>{"user: a", "assistant: 1 messages, seed 2"}));
  EXPECT_THAT(run_loop("/help\n").err, HasSubstr("/regen"));
  EXPECT_THAT(run_loop("/save\n").err, HasSubstr("/save: expected a file name"));
  EXPECT_THAT(run_loop("/claer\n").err, HasSubstr("unknown command /claer; did you mean /clear?"));
  EXPECT_THAT(run_loop("/regen\n").err, HasSubstr("there is no answer yet"));
}

TEST(ChatLoop, AFailedAnswerIsToldAndRemembered) {
  const auto result = run_loop("fail\na\n");
  EXPECT_EQ(result.exit_code, ExitCode::kFailed);
  EXPECT_THAT(result.err, HasSubstr("prompt is too long"));
  EXPECT_THAT(result.err, HasSubstr("/clear"));
  EXPECT_EQ(result.messages.size(), 2u);
}

}  // namespace
}  // namespace ferrox
