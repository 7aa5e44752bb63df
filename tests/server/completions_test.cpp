// Do the completion endpoints answer, whole and streamed, with a real engine behind them?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "server/server_rig.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::RawResponse;
using testing::read_sse;
using testing::ServerRig;
using testing::shared_server;
using testing::SseEvents;

Json parsed(const RawResponse& response) {
  EXPECT_EQ(response.headers.at("content-type"), "application/json") << response.body;
  return Json::parse(response.body, nullptr, false);
}

/// Ten greedy tokens after a prompt, with whatever else is asked.
Json ten_tokens(std::initializer_list<std::pair<const char*, Json>> more = {}) {
  Json body = {{"prompt", "Once upon a time"}, {"max_tokens", 10}, {"temperature", 0}, {"ignore_eos", true}};
  for (const auto& [name, value] : more) body[name] = value;
  return body;
}

std::string text_of(const RawResponse& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  return parsed(response)["choices"][0]["text"].get<std::string>();
}

std::string streamed_text(const SseEvents& events, size_t choice = 0) {
  std::string text;
  for (const Json& event : events.data) {
    for (const Json& one : event["choices"]) {
      if (one["index"] == choice) text += one["text"].get<std::string>();
    }
  }
  return text;
}

TEST(Completions, WholeAnswer) {
  const RawResponse response = shared_server().complete(ten_tokens({{"seed", 5}}));
  ASSERT_EQ(response.status, 200) << response.body;
  const Json body = parsed(response);
  EXPECT_EQ(body["object"], "text_completion");
  EXPECT_EQ(body["model"], shared_server().engine->model_id());
  EXPECT_EQ(body["seed"], 5);
  EXPECT_EQ(body["usage"]["completion_tokens"], 10);
  EXPECT_EQ(body["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(body["id"].get<std::string>(), "cmpl-" + response.headers.at("x-request-id"));
}

TEST(Completions, StreamEqualsTheWholeAnswer) {
  const std::string whole = text_of(shared_server().complete(ten_tokens()));
  const RawResponse response =
      shared_server().complete(ten_tokens({{"stream", true}, {"stream_options", {{"include_usage", true}}}}));
  ASSERT_EQ(response.status, 200);
  EXPECT_THAT(response.headers.at("content-type"), HasSubstr("text/event-stream"));
  EXPECT_TRUE(response.complete);
  const SseEvents events = read_sse(response.body);
  EXPECT_TRUE(events.done);
  EXPECT_EQ(streamed_text(events), whole);
  EXPECT_EQ(events.data.back()["usage"]["completion_tokens"], 10);
  EXPECT_TRUE(events.data.front()["usage"].is_null());
}

TEST(Completions, SeedsRepeatAndAreTold) {
  const Json ask = ten_tokens({{"temperature", 1.5}, {"top_k", 0}});
  const Json first = parsed(shared_server().complete(ask));
  Json again = ask;
  again["seed"] = first["seed"];
  const Json second = parsed(shared_server().complete(again));
  EXPECT_EQ(first["choices"], second["choices"]);
  EXPECT_EQ(first["seed"], second["seed"]);
}

TEST(Completions, ChoicesSampleWithSeedPlusTheirIndex) {
  const Json body = parsed(shared_server().complete(ten_tokens({{"temperature", 1.5}, {"seed", 11}, {"n", 3}})));
  ASSERT_EQ(body["choices"].size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const RawResponse alone = shared_server().complete(ten_tokens({{"temperature", 1.5}, {"seed", 11 + i}}));
    EXPECT_EQ(body["choices"][static_cast<size_t>(i)]["text"], text_of(alone)) << i;
  }
  const auto n_prompt = body["usage"]["prompt_tokens"].get<int>();
  EXPECT_EQ(parsed(shared_server().complete(ten_tokens()))["usage"]["prompt_tokens"], n_prompt);
}

double mean_logprob(const Json& choice) {
  double sum = 0;
  for (const Json& logprob : choice["logprobs"]["token_logprobs"]) sum += logprob.get<double>();
  return sum / static_cast<double>(choice["logprobs"]["token_logprobs"].size());
}

TEST(Completions, TheMostLikelyOfManyCandidatesAreTold) {
  const Json ask = ten_tokens({{"temperature", 1.5}, {"seed", 11}, {"logprobs", 0}, {"ignore_eos", true}});
  Json all = ask;
  all["n"] = 5;
  const Json told = parsed(shared_server().complete(all));
  std::vector<Json> candidates(told["choices"].begin(), told["choices"].end());
  std::ranges::stable_sort(candidates, std::greater(), mean_logprob);
  Json best = ask;
  best["n"] = 2;
  best["best_of"] = 5;
  const Json body = parsed(shared_server().complete(best));
  ASSERT_EQ(body["choices"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(body["choices"][i]["text"], candidates[i]["text"]);
    EXPECT_EQ(body["choices"][i]["index"], i);
    EXPECT_NEAR(mean_logprob(body["choices"][i]), mean_logprob(candidates[i]), 1e-6);
  }
  EXPECT_EQ(body["usage"]["completion_tokens"], 50) << "all were generated";
  Json untold = best;
  untold.erase("logprobs");
  const Json without = parsed(shared_server().complete(untold));
  EXPECT_EQ(without["choices"][0]["text"], candidates[0]["text"]);
  EXPECT_TRUE(without["choices"][0]["logprobs"].is_null());
  Json again = ten_tokens({{"temperature", 1.5}, {"seed", without["seed"]}, {"ignore_eos", true}});
  EXPECT_EQ(text_of(shared_server().complete(again)), candidates[0]["text"]) << "its own seed is told";
}

TEST(Completions, ManyPromptsAnswerInTheirOrder) {
  const Json prompts = {"The capital of France", "One two three"};
  const Json body = parsed(shared_server().complete(ten_tokens({{"prompt", prompts}})));
  ASSERT_EQ(body["choices"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(body["choices"][i]["index"], i);
    EXPECT_EQ(body["choices"][i]["text"], text_of(shared_server().complete(ten_tokens({{"prompt", prompts[i]}}))));
  }
  const auto events = read_sse(shared_server().complete(ten_tokens({{"prompt", prompts}, {"stream", true}})).body);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(streamed_text(events, i), body["choices"][i]["text"]);
}

TEST(Completions, TokenPromptsAndEcho) {
  const Tokenizer& tokenizer = shared_server().engine->tokenizer();
  const auto ids = tokenizer.add_bos(tokenizer.encode("Once upon a time", SpecialTokens::kParse));
  const std::string text = text_of(shared_server().complete(ten_tokens()));
  EXPECT_EQ(text_of(shared_server().complete(ten_tokens({{"prompt", ids}}))), text);
  EXPECT_EQ(text_of(shared_server().complete(ten_tokens({{"echo", true}}))), "Once upon a time" + text);
  const RawResponse outside = shared_server().complete(ten_tokens({{"prompt", {1 << 30}}}));
  EXPECT_EQ(outside.status, 400) << outside.body;
}

TEST(Completions, StopStringsEndTheAnswerAndStayOut) {
  const std::string whole = text_of(shared_server().complete(ten_tokens({{"max_tokens", 20}})));
  ASSERT_GT(whole.size(), 12u);
  const std::string stop = whole.substr(6, 4);
  const Json body = parsed(shared_server().complete(ten_tokens({{"max_tokens", 20}, {"stop", stop}})));
  const auto text = body["choices"][0]["text"].get<std::string>();
  EXPECT_EQ(text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
  const auto events =
      read_sse(shared_server().complete(ten_tokens({{"max_tokens", 20}, {"stop", stop}, {"stream", true}})).body);
  EXPECT_EQ(streamed_text(events), text);
}

TEST(Completions, LogprobsMatchTheText) {
  Json bans = Json::object();  // ends of generation have a name and no text
  for (const int32_t id : shared_server().engine->tokenizer().vocabulary().end_of_generation()) {
    bans[std::to_string(id)] = false;
  }
  const Json body = parsed(shared_server().complete(ten_tokens({{"logprobs", 3}, {"logit_bias", bans}})));
  const Json& logprobs = body["choices"][0]["logprobs"];
  ASSERT_EQ(logprobs["tokens"].size(), 10u) << body;
  std::string joined;
  for (size_t i = 0; i < 10; ++i) {
    joined += logprobs["tokens"][i].get<std::string>();
    EXPECT_LE(logprobs["token_logprobs"][i].get<double>(), 0);
    EXPECT_EQ(logprobs["top_logprobs"][i].size(), 3u);
    // Greedy: only a banned token can be likelier than the sampled one.
    EXPECT_LE(logprobs["token_logprobs"][i].get<double>(), logprobs["top_logprobs"][i].front().get<double>());
  }
  EXPECT_EQ(joined, body["choices"][0]["text"]);
}

TEST(Completions, LogitBiasBansAndForces) {
  const auto space = shared_server().engine->tokenizer().encode("a", SpecialTokens::kAsText);
  ASSERT_EQ(space.size(), 1u);
  const std::string id = std::to_string(space[0]);
  EXPECT_EQ(text_of(shared_server().complete(ten_tokens({{"logit_bias", {{id, 100}}}}))), "aaaaaaaaaa");
  EXPECT_EQ(text_of(shared_server().complete(ten_tokens({{"logit_bias", {{"a", 100}}}}))), "aaaaaaaaaa");
  EXPECT_EQ(text_of(shared_server().complete(ten_tokens({{"allowed_token_ids", space}}))), "aaaaaaaaaa");
  EXPECT_EQ(shared_server().complete(ten_tokens({{"logit_bias", {{"99999999", 1}}}})).status, 400);
}

TEST(Completions, RefusalsOfTheEngineHaveTheirCodes) {
  const RawResponse empty = shared_server().complete({{"prompt", Json::array({Json::array()})}});
  EXPECT_EQ(empty.status, 400);
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "word ";
  const RawResponse response = shared_server().complete({{"prompt", text}, {"max_tokens", 8}});
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(parsed(response)["error"]["code"], "context_length_exceeded");
  EXPECT_THAT(response.body, HasSubstr("prompt is too long: "));
  EXPECT_THAT(response.body, HasSubstr(" maximum"));
  const RawResponse streamed = shared_server().complete({{"prompt", text}, {"stream", true}});
  EXPECT_EQ(streamed.status, 400);
}

TEST(Completions, FieldsWithoutEffectAreListed) {
  const RawResponse response = shared_server().complete(ten_tokens({{"user", "u"}, {"made_up", 1}}));
  EXPECT_EQ(response.headers.at("x-ferrox-ignored"), "user, made_up");
  EXPECT_FALSE(shared_server().complete(ten_tokens()).headers.contains("x-ferrox-ignored"));
}

TEST(Completions, ManyClientsAtOnceGetWhatTheyGetAlone) {
  ServerRig& rig = shared_server();
  const std::string alone = text_of(rig.complete(ten_tokens({{"temperature", 1}, {"seed", 3}})));
  std::vector<std::string> texts(24);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&, i] { texts[i] = text_of(rig.complete(ten_tokens({{"temperature", 1}, {"seed", 3}}))); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()), std::set<std::string>{alone});
  rig.expect_all_released();
}

TEST(Completions, ALongWholeAnswerIsWhole) {
  const RawResponse response =
      ServerRig().complete({{"prompt", "Once"}, {"max_tokens", 1200}, {"ignore_eos", true}, {"logprobs", 1}});
  const Json answer = Json::parse(response.body);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 1200);
  EXPECT_EQ(answer["choices"][0]["logprobs"]["tokens"].size(), 1200u);
}

}  // namespace
}  // namespace ferrox
