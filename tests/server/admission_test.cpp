// Is a request refused before any work, in the words and codes that clients match on, and can it be asked beforehand?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/server_rig.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;

/// A context of 64 positions; the store holds more than one request of it.
RigOptions small_context() {
  RigOptions options;
  options.engine.context_length = 64;
  return options;
}

Json completion_of(int n_tokens, int64_t max_tokens) {
  return {{"prompt", std::vector<int>(static_cast<size_t>(n_tokens), 300)},
          {"max_tokens", max_tokens},
          {"ignore_eos", true},
          {"temperature", 0}};
}

// M8, X1: nothing is cut and nothing is shifted: both numbers, or an end at the limit.
TEST(Admission, APromptThatIsTooLongIsRefusedWithBothNumbers) {
  const ServerRig rig(small_context());
  const RawResponse refused = rig.complete(completion_of(100, 1));
  EXPECT_EQ(refused.status, 400);
  const Json error = Json::parse(refused.body)["error"];
  EXPECT_EQ(error["code"], "context_length_exceeded");
  EXPECT_EQ(error["message"], "prompt is too long: 100 tokens > 64 maximum");
  EXPECT_THAT(rig.call("GET", "/metrics").body, HasSubstr("\nferrox_refused_too_long_total 1\n"));
  EXPECT_EQ(rig.engine->status().n_steps, 0u);
  rig.expect_all_released();
}

TEST(Admission, AnAnswerEndsAtTheContext) {
  const ServerRig rig(small_context());
  const Json answer = Json::parse(rig.complete(completion_of(10, 100000)).body);
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(answer["usage"]["completion_tokens"], 54);
}

// X3: without a limit of its own an answer ends at the default one.
TEST(Admission, AnAnswerWithoutALimitEndsAtTheDefault) {
  RigOptions options;
  options.engine.default_max_tokens = 20;
  const ServerRig rig(options);
  Json body = completion_of(10, 0);
  body.erase("max_tokens");
  const Json answer = Json::parse(rig.complete(body).body);
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(answer["usage"]["completion_tokens"], 20);
}

TEST(Admission, MoreThanTheStoreIsRefusedWithBytes) {
  RigOptions options;
  options.engine.context_length = 2048;
  options.engine.kv_bytes = 1 << 20;
  const ServerRig rig(options);
  const RawResponse refused = rig.complete(completion_of(10, 2000));
  EXPECT_EQ(refused.status, 400);
  const Json error = Json::parse(refused.body)["error"];
  EXPECT_EQ(error["code"], "device_memory_budget_exceeded");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("(2010 positions > "));
  EXPECT_THAT(rig.call("GET", "/metrics").body, HasSubstr("\nferrox_refused_too_large_total 1\n"));
  const RawResponse asked = rig.call("POST", "/v1/admission", completion_of(10, 2000));
  EXPECT_EQ(asked.status, 400);
  EXPECT_EQ(Json::parse(asked.body)["error"], error) << "the same answer, without sending it";
  EXPECT_EQ(rig.engine->status().refused.too_large, 1u) << "asking is not counted";
}

TEST(Admission, TellsWhatARequestWouldTake) {
  const ServerRig rig(small_context());
  const RawResponse response = rig.call("POST", "/v1/admission", completion_of(10, 20));
  ASSERT_EQ(response.status, 200) << response.body;
  const Json answer = Json::parse(response.body);
  EXPECT_EQ(answer["admitted"], true);
  ASSERT_EQ(answer["choices"].size(), 1u);
  const Json& choice = answer["choices"][0];
  EXPECT_EQ(choice["prompt_tokens"], 10);
  EXPECT_EQ(choice["positions"], 30);
  EXPECT_EQ(choice["position_limit"], 64);
  EXPECT_EQ(choice["would_wait"], false);
  EXPECT_LE(choice["estimated_bytes"].get<uint64_t>(), choice["limit_bytes"].get<uint64_t>());
  EXPECT_EQ(rig.engine->status().n_steps, 0u);

  const Json chat = {{"messages", {{{"role", "user"}, {"content", "hi"}}}}, {"n", 2}};
  EXPECT_EQ(Json::parse(rig.call("POST", "/v1/admission", chat).body)["choices"].size(), 2u);
  EXPECT_EQ(rig.call("POST", "/v1/admission", Json{{"prompt", 7}}).status, 400);
}

}  // namespace
}  // namespace ferrox
