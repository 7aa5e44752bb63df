// Is an answer told again only where it would be the same, and are those that are kept bounded?
#include "server/answer/response_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/server_rig.h"

namespace ferrox {
namespace {

TEST(ResponseCache, KeepsAnswersForPartsOfASecondAsWell) {
  const auto start = std::chrono::steady_clock::now();
  ResponseCache cache({.most_entries = 2, .ttl = std::chrono::milliseconds(500)});
  const FinishReason reasons[] = {FinishReason::kStop};
  cache.insert("key", *EndedAnswer::make("body", reasons), start);
  EXPECT_NE(cache.find("key", start + std::chrono::milliseconds(499)), nullptr);
  EXPECT_EQ(cache.find("key", start + std::chrono::milliseconds(500)), nullptr);
}

using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;

ResponseCache::Time at(int n_seconds) { return ResponseCache::Time() + std::chrono::seconds(n_seconds); }

EndedAnswer answer_of(std::string body) {
  const FinishReason reason = FinishReason::kStop;
  return *EndedAnswer::make(std::move(body), {&reason, 1});
}

TEST(ResponseCache, OnlyWhatEndedByItselfCanBeKept) {
  const auto is_kept = [](std::vector<FinishReason> reasons) { return EndedAnswer::make("x", reasons).has_value(); };
  EXPECT_TRUE(is_kept({FinishReason::kStop}));
  EXPECT_TRUE(is_kept({FinishReason::kLength, FinishReason::kStop}));
  EXPECT_FALSE(is_kept({FinishReason::kStop, FinishReason::kCancelled}));
  EXPECT_FALSE(is_kept({}));
}

TEST(ResponseCache, WhatWasUsedLongestAgoGoesFirst) {
  ResponseCache cache({.most_entries = 2});
  cache.insert("a", answer_of("1"), at(0));
  cache.insert("b", answer_of("2"), at(0));
  ASSERT_NE(cache.find("a", at(1)), nullptr);
  cache.insert("c", answer_of("3"), at(1));
  EXPECT_EQ(cache.find("b", at(1)), nullptr);
  EXPECT_EQ(*cache.find("a", at(1)), "1");
  EXPECT_EQ(*cache.find("c", at(1)), "3");
  cache.insert("c", answer_of("4"), at(1));
  EXPECT_EQ(*cache.find("c", at(1)), "4");
  EXPECT_EQ(cache.stats().n_entries, 2);
  EXPECT_EQ(cache.stats().n_hits, 4u);
  EXPECT_EQ(cache.stats().n_misses, 1u);
}

TEST(ResponseCache, NothingIsKeptLongerThanItsTime) {
  ResponseCache cache({.most_entries = 2, .ttl = std::chrono::seconds(10)});
  cache.insert("a", answer_of("1"), at(0));
  EXPECT_NE(cache.find("a", at(9)), nullptr);
  EXPECT_EQ(cache.find("a", at(10)), nullptr) << "a hit doesn't prolong it";
  EXPECT_EQ(cache.stats().n_entries, 0);
  EXPECT_EQ(cache.stats().n_bytes, 0);
}

TEST(ResponseCache, BytesAreBounded) {
  ResponseCache cache({.most_entries = 1000, .most_bytes = 4000});
  for (int i = 0; i < 100; ++i) {
    cache.insert(std::to_string(i), answer_of(std::string(700, 'x')), at(0));
    EXPECT_LE(cache.stats().n_bytes, 4000);
  }
  EXPECT_EQ(cache.stats().n_entries, 4);
  cache.insert("large", answer_of(std::string(4000, 'x')), at(0));
  EXPECT_EQ(cache.find("large", at(0)), nullptr);
  EXPECT_EQ(cache.stats().n_entries, 4) << "what can't be kept makes nothing go";
}

TEST(ResponseCache, KeysAreApartHoweverTheirPartsAreCut) {
  EXPECT_NE(response_key("a", "bc", "d"), response_key("ab", "c", "d"));
  EXPECT_NE(response_key("", "/v1/x", "{}"), response_key("", "/v1/x", "{} "));
  EXPECT_EQ(response_key("a", "b", "c"), response_key("a", "b", "c"));
}

Json greedy(std::initializer_list<std::pair<const char*, Json>> more = {}) {
  Json body = {{"prompt", "Once upon a time"}, {"max_tokens", 8}, {"temperature", 0}};
  for (const auto& [name, value] : more) body[name] = value;
  return body;
}

std::string said(const RawResponse& response) {
  const auto header = response.headers.find("x-ferrox-response-cache");
  return header == response.headers.end() ? "" : header->second;
}

TEST(KeptAnswers, TheSameRequestIsToldTheSameWithoutAStep) {
  RigOptions options;
  options.server.responses.most_entries = 8;
  const ServerRig rig(options);
  const RawResponse first = rig.complete(greedy());
  EXPECT_EQ(said(first), "miss");
  const uint64_t n_steps = rig.engine->status().n_steps;
  const RawResponse second = rig.complete(greedy());
  EXPECT_EQ(said(second), "hit");
  EXPECT_EQ(rig.engine->status().n_steps, n_steps);
  const Json one = Json::parse(first.body);
  const Json two = Json::parse(second.body);
  EXPECT_EQ(one["choices"], two["choices"]);
  EXPECT_EQ(one["usage"], two["usage"]);
  EXPECT_NE(one["id"], two["id"]);
  EXPECT_FALSE(two.contains("timings"));
  EXPECT_EQ(said(rig.complete(greedy({{"temperature", 1}}))), "skip") << "left to chance";
  EXPECT_EQ(said(rig.complete(greedy({{"temperature", 1}, {"seed", 5}}))), "miss");
  EXPECT_EQ(said(rig.complete(greedy({{"temperature", 1}, {"seed", 5}}))), "hit");
  EXPECT_EQ(said(rig.complete(greedy({{"stream", true}}))), "skip");
  EXPECT_EQ(said(rig.complete(greedy({{"cache_salt", "mine"}}))), "miss") << "another namespace";
  EXPECT_EQ(said(rig.call("POST", "/v1/completions", greedy({{"temperature", -1}}))), "") << "refused";
}

TEST(KeptAnswers, MessagesAreKeptToo) {
  RigOptions options;
  options.server.responses.most_entries = 8;
  const ServerRig rig(options);
  const Json ask = {{"max_tokens", 8},
                    {"temperature", 0},
                    {"messages", Json::array({{{"role", "user"}, {"content", "What is the capital of Italy?"}}})}};
  const RawResponse first = rig.call("POST", "/v1/messages", ask);
  const RawResponse second = rig.call("POST", "/v1/messages", ask);
  EXPECT_EQ(said(second), "hit");
  EXPECT_EQ(Json::parse(first.body)["content"], Json::parse(second.body)["content"]);
  EXPECT_NE(Json::parse(first.body)["id"], Json::parse(second.body)["id"]);
}

TEST(KeptAnswers, NothingIsSaidWhereNothingIsKept) { EXPECT_EQ(said(testing::shared_server().complete(greedy())), ""); }

}  // namespace
}  // namespace ferrox
