// Do answers have OpenAI's shapes, whole and in pieces? Golden JSON of both dialects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/openai/answer_builder.h"
#include "server/openai/logprobs.h"
#include "server/openai/usage.h"
#include "server/server_rig.h"
#include "text/vocabulary_builder.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using testing::read_sse;

/// Byte-level BPE: token ids of single letters are those of their bytes.
const Tokenizer& letters() {
  static const testing::VocabularyBuilder builder = testing::small_byte_level();
  static const std::unique_ptr<Tokenizer> tokenizer = *builder.make();
  return *tokenizer;
}

TokenEvent token(int32_t id, std::string text) {
  return {id, std::move(text), TokenLogprob{id, -0.5f}, {{id, -0.5f}, {'z', -HUGE_VALF}}};
}

DoneEvent done(FinishReason reason, std::string text = "") {
  DoneEvent event{reason, std::move(text), std::nullopt, std::nullopt, {}};
  event.usage.prompt_tokens = 3;
  event.usage.completion_tokens = 2;
  event.usage.prefill_ms = 10;
  event.usage.decode_ms = 20;
  return event;
}

PreparedAnswer prepared(std::unique_ptr<AnswerShape> shape, bool logprobs) {
  PreparedAnswer answer;
  answer.shape = std::move(shape);
  answer.seeds = {42};
  answer.logprobs = logprobs;
  return answer;
}

Json without(Json object, std::initializer_list<const char*> names) {
  for (const char* name : names) object.erase(name);
  return object;
}

TEST(AnswerShape, WholeChat) {
  PreparedAnswer answer = prepared(make_chat_shape(letters(), Logprobs::kNone), false);
  AnswerBuilder builder(std::move(answer), letters(), "m", "77");
  builder.collect({0, token('h', "h")});
  builder.collect({0, token('i', "i")});
  builder.collect({0, done(FinishReason::kStop, "!")});
  const Json body = Json::parse(builder.whole_body());
  EXPECT_TRUE(body["created"].is_number_integer());
  EXPECT_EQ(without(body, {"created", "timings"}), Json::parse(R"({
    "id": "chatcmpl-77", "object": "chat.completion", "model": "m", "system_fingerprint": "ferrox",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi!", "refusal": null}, "logprobs": null,
                 "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}, "seed": 42})"));
  EXPECT_EQ(body["timings"]["predicted_per_second"], 100);
}

TEST(AnswerShape, StreamedChat) {
  PreparedAnswer answer = prepared(make_chat_shape(letters(), Logprobs::kNone), false);
  answer.include_usage = true;
  AnswerBuilder builder(std::move(answer), letters(), "m", "77");
  std::string stream = builder.opening_events();
  stream += builder.events_of({0, PromptProgressEvent{1, 2}});
  stream += builder.events_of({0, token('h', "h")});
  stream += builder.events_of({0, token('i', "")});
  stream += builder.events_of({0, done(FinishReason::kLength, "i")});
  stream += builder.closing_events();
  const auto events = read_sse(stream);
  EXPECT_TRUE(events.done);
  ASSERT_EQ(events.data.size(), 5u);
  std::vector<Json> deltas;
  for (const Json& event : events.data) {
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    EXPECT_EQ(event["id"], "chatcmpl-77");
    if (!event["choices"].empty()) deltas.push_back(without(event["choices"][0], {"logprobs"}));
  }
  EXPECT_THAT(deltas,
              ElementsAre(Json::parse(R"({"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null})"),
                          Json::parse(R"({"index":0,"delta":{"content":"h"},"finish_reason":null})"),
                          Json::parse(R"({"index":0,"delta":{"content":"i"},"finish_reason":null})"),
                          Json::parse(R"({"index":0,"delta":{},"finish_reason":"length"})")));
  EXPECT_TRUE(events.data[1]["usage"].is_null());
  EXPECT_EQ(events.data[3]["seed"], 42);
  EXPECT_EQ(events.data[4]["choices"], Json::array());
  EXPECT_EQ(events.data[4]["usage"]["total_tokens"], 5);
}

TEST(AnswerShape, WholeCompletionWithEchoAndLogprobs) {
  PreparedAnswer answer = prepared(make_completion_shape(letters(), Logprobs::kTold, {"\u00E9>"}), true);
  AnswerBuilder builder(std::move(answer), letters(), "m", "77");
  builder.collect({0, token('h', "h")});
  builder.collect({0, token('i', "i")});
  builder.collect({0, done(FinishReason::kStop)});
  const Json body = Json::parse(builder.whole_body());
  EXPECT_EQ(body["id"], "cmpl-77");
  EXPECT_EQ(body["object"], "text_completion");
  EXPECT_EQ(body["choices"][0], Json::parse(R"({"index": 0, "text": "\u00e9>hi", "logprobs": {
    "tokens": ["h", "i"], "token_logprobs": [-0.5, -0.5],
    "top_logprobs": [{"h": -0.5, "z": -9999.0}, {"i": -0.5, "z": -9999.0}], "text_offset": [2, 3]},
    "finish_reason": "stop"})"));
}

TEST(AnswerShape, ChatLogprobsCarryBytesOfPartialCharacters) {
  const int32_t first = letters().encode("\u00E9", SpecialTokens::kAsText).front();
  const Json logprobs = chat_logprobs({{token(first, ""), 0, 0}}, letters());
  ASSERT_EQ(logprobs["content"].size(), 1u);
  EXPECT_EQ(logprobs["content"][0]["bytes"], Json::parse("[195]"));
  EXPECT_EQ(logprobs["content"][0]["top_logprobs"].size(), 2u);
  EXPECT_EQ(logprobs["content"][0]["top_logprobs"][1]["logprob"], -9999.0);
  EXPECT_NO_THROW(dump_json(logprobs));
}

TEST(AnswerShape, RowsOfLogitsBeyondTheVocabularyHaveNamesAndNoText) {
  const int32_t n = letters().vocabulary().size();
  TokenEvent beyond = token(n + 7, "");
  beyond.top_logprobs = {{n + 7, -0.5f}, {n, -1.0f}};
  LogprobLedger ledger(letters());
  ledger.push(beyond);
  const auto scored = ledger.push(token('h', "h"));
  ASSERT_EQ(scored.size(), 2u);
  EXPECT_EQ(scored[1].character_offset, 0u);
  const Json chat = chat_logprobs(scored, letters());
  EXPECT_EQ(chat["content"][0]["token"], "token_id:" + std::to_string(n + 7));
  EXPECT_EQ(chat["content"][0]["bytes"], Json::array());
  const Json completion = completion_logprobs(scored, letters(), 0);
  EXPECT_EQ(completion["top_logprobs"][0].size(), 2u);
}

TEST(AnswerShape, TokensOfAStopStringAreNotTold) {
  LogprobLedger ledger(letters());
  EXPECT_EQ(ledger.push(token('h', "h")).size(), 1u);
  EXPECT_TRUE(ledger.push(token('#', "")).empty());
  DoneEvent end = done(FinishReason::kStop);
  end.matched_stop = "##";
  EXPECT_TRUE(ledger.finish(end).empty());

  LogprobLedger released(letters());
  EXPECT_TRUE(released.push(token('#', "")).empty());
  const auto tokens = released.push(token('i', "#i"));
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[1].byte_offset, 1u);
}

TEST(AnswerShape, UsageCountsASharedPromptOnce) {
  Usage usage;
  usage.prompt_tokens = 10;
  usage.completion_tokens = 4;
  usage.cached_tokens = 6;
  const std::vector<Usage> choices(4, usage);
  EXPECT_EQ(usage_json(choices, 2, letters()),
            Json::parse(R"({"prompt_tokens": 20, "completion_tokens": 16, "total_tokens": 36,
                                                    "prompt_tokens_details": {"cached_tokens": 12}})"));
}

TEST(AnswerShape, UsageSaysWhereReuseEnded) {
  Usage usage;
  usage.prompt_tokens = 10;
  usage.cached_tokens = 3;
  usage.prefix_end = PrefixEnd{PrefixMiss::kEvicted, 3, '#'};
  const Json details = usage_json({&usage, 1}, 1, letters())["prompt_tokens_details"];
  EXPECT_EQ(details["cache_miss"]["reason"], "evicted");
  EXPECT_EQ(details["cache_miss"]["position"], 3);
  EXPECT_EQ(details["cache_miss"]["token"], '#');
  EXPECT_TRUE(details["cache_miss"]["text"].is_string());
}

TEST(AnswerShape, ErrorsOfEveryKind) {
  const auto engine = [](ErrorCode code) { return engine_error(Error{code, "m"}, ErrorKind::kQueueFull, 7); };
  EXPECT_EQ(engine(ErrorCode::kInvalidArgument).status, 400);
  EXPECT_EQ(engine(ErrorCode::kContextLength).code, "context_length_exceeded");
  EXPECT_EQ(engine(ErrorCode::kContextLength).status, 400);
  EXPECT_EQ(engine(ErrorCode::kMemoryBudget).code, "device_memory_budget_exceeded");
  EXPECT_EQ(engine(ErrorCode::kUnavailable).status, 503);
  EXPECT_EQ(engine(ErrorCode::kUnsupported).status, 501);
  EXPECT_EQ(engine(ErrorCode::kCorrupt).status, 500);
  const HttpResponse response = error_response(engine(ErrorCode::kUnavailable));
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].name, "retry-after");
  EXPECT_EQ(response.headers[0].value, "7");
  EXPECT_EQ(Json::parse(error_body(invalid_request("n", "n: \x80"))),
            Json::parse(R"({"error": {"message": "n: \ufffd", "type": "invalid_request_error", "param": "n",
                                      "code": "invalid_request_error"}})"));
}

}  // namespace
}  // namespace ferrox
