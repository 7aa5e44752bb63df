// Does a streamed answer become the right record: text, counts, outcome?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "loadgen/answer_reader.h"
#include "loadgen/request_body.h"
#include "loadgen/stream_event.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kChatStream =
    ": hello\n\n"
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Hm\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"Good \"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"day\"},\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":5,"
    "\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n"
    "data: [DONE]\n\n";

struct ReadAnswer {
  RequestRecord record;
  std::string content;
  bool wants_more = true;
};

ReadAnswer read_answer(const std::vector<std::string_view>& pieces, std::optional<size_t> drop_after = {}) {
  ReadAnswer answer;
  AnswerReader reader(answer.record, drop_after);
  double now_ms = 0;
  for (const auto piece : pieces) answer.wants_more = reader.take(piece, ++now_ms);
  if (answer.wants_more) reader.finish();
  answer.content = reader.content();
  return answer;
}

TEST(Answer, EveryCutGivesTheSameRecord) {
  for (size_t cut = 0; cut <= kChatStream.size(); ++cut) {
    const auto [record, content, wants_more] = read_answer({kChatStream.substr(0, cut), kChatStream.substr(cut)});
    EXPECT_EQ(record.outcome, Outcome::kOk) << cut;
    EXPECT_EQ(content, "Good day");
    EXPECT_EQ(record.token_ms.size(), 3u);
    EXPECT_EQ(record.prompt_tokens, 12);
    EXPECT_EQ(record.completion_tokens, 5);
    EXPECT_EQ(record.cached_tokens, 8);
    EXPECT_FALSE(wants_more);
  }
}

TEST(Answer, AStreamThatEndsEarlyIsAFailure) {
  const size_t finish = kChatStream.find("data: {\"choices\":[{\"delta\":{},");
  for (size_t end = 0; end < finish; ++end) {
    EXPECT_EQ(read_answer({kChatStream.substr(0, end)}).record.outcome, Outcome::kFailed) << end;
  }
  // Servers that send no [DONE] have said why they ended.
  const auto without_done = read_answer({kChatStream.substr(0, kChatStream.find("data: [DONE]"))});
  EXPECT_EQ(without_done.record.outcome, Outcome::kOk);
  EXPECT_EQ(without_done.record.completion_tokens, 5);
}

TEST(Answer, IsDroppedAfterItsTokens) {
  const auto answer = read_answer({kChatStream}, 2);
  EXPECT_EQ(answer.record.outcome, Outcome::kCancelled);
  EXPECT_EQ(answer.record.output_tokens(), 2);
  EXPECT_FALSE(answer.wants_more);
  EXPECT_EQ(read_answer({kChatStream}, 9).record.outcome, Outcome::kOk) << "it ended before";
}

TEST(Answer, WhatMakesNoSenseIsAFailureWithItsReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"data: <html>\n\n", "event of the stream: expected a JSON object, found '<html>'"},
      {"data: [1, 2]\n\n", "expected a JSON object, found '[1, 2]'"},
      {"data: \x1b[2J\xff\n\n", "found '?[2J?'"},
      {"data: {\"error\":{\"message\":\"out of\\nmemory\"}}\n\n", "error in the stream: out of memory"},
      {"data: {\"error\":\"boom\"}\n\n", "error in the stream: boom"},
      {"data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"cancelled\"}]}\n\ndata: [DONE]\n\n",
       "found finish_reason 'cancelled'"},
      {"garbage without an end", "expected data: [DONE] at its end"},
  };
  for (const auto& [stream, reason] : cases) {
    const auto answer = read_answer({stream});
    EXPECT_EQ(answer.record.outcome, Outcome::kFailed) << stream;
    EXPECT_THAT(answer.record.error, HasSubstr(reason));
  }
}

TEST(StreamEvent, MembersOfOtherTypesArePassedOver) {
  for (const char* data : {"{}", R"({"choices":3})", R"({"choices":[]})", R"({"choices":["a"]})",
                           R"({"choices":[{"text":5,"delta":"x","finish_reason":{}}],"usage":[1]})",
                           R"({"usage":{"prompt_tokens":-1,"completion_tokens":"9"}})", R"({"error":null})",
                           R"({"usage":{"prompt_tokens":1e300,"prompt_tokens_details":{"cached_tokens":1.5}}})"}) {
    const auto event = read_stream_event(data);
    ASSERT_TRUE(event) << data;
    EXPECT_FALSE(event->has_text());
    EXPECT_FALSE(event->prompt_tokens || event->completion_tokens || event->cached_tokens) << data;
    EXPECT_EQ(event->error + event->finish_reason, "");
  }
}

TEST(StreamEvent, RefusalsGiveTheirMessageOnOneLine) {
  EXPECT_EQ(message_of_refusal(R"({"error":{"message":"queue full"}})"), "queue full");
  EXPECT_EQ(message_of_refusal(R"({"error":"no"})"), "no");
  EXPECT_EQ(message_of_refusal(R"({"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(message_of_refusal("<h1>\n502\x1b</h1>"), "<h1> 502?</h1>");
  EXPECT_EQ(message_of_refusal(""), "");
  EXPECT_LT(message_of_refusal(std::string(100'000, 'x')).size(), 300u);
}

TEST(RequestBody, TurnsGrowByWhatWasSaid) {
  Dialogue dialogue;
  dialogue.add_turn("one");
  dialogue.add_answer("ONE");
  dialogue.add_turn("two");
  const auto chat = nlohmann::json::parse(dialogue.body({EndpointKind::kChat, "m", false}, 9));
  EXPECT_EQ(chat["messages"], nlohmann::json::parse(R"([{"role":"user","content":"one"},
      {"role":"assistant","content":"ONE"},{"role":"user","content":"two"}])"));
  EXPECT_EQ(chat["model"], "m");
  EXPECT_EQ(chat["max_tokens"], 9);
  EXPECT_EQ(chat["stream"], true);
  EXPECT_EQ(chat["stream_options"]["include_usage"], true);
  EXPECT_FALSE(chat.contains("ignore_eos") || chat.contains("prompt"));
  const auto plain = nlohmann::json::parse(dialogue.body({EndpointKind::kCompletions, "", true}, 9));
  EXPECT_EQ(plain["prompt"], "oneONE two");
  EXPECT_EQ(plain["ignore_eos"], true);
  EXPECT_FALSE(plain.contains("model") || plain.contains("messages"));
}

}  // namespace
}  // namespace ferrox
