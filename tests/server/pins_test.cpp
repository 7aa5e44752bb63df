// Are prefixes pinned over HTTP, and kept from other keys?
#include <gtest/gtest.h>

#include "server/server_rig.h"

namespace ferrox {
namespace {

using testing::RigOptions;
using testing::ServerRig;

/// A store that two prompts of 200 tokens fill.
RigOptions small_store() {
  RigOptions options;
  options.engine.context_length = 256;
  options.engine.kv_bytes = uint64_t{1} << 20;
  options.engine.n_parallel = 1;
  return options;
}

Json prompt_of(int token) { return {{"prompt", std::vector<int>(200, token)}, {"max_tokens", 1}}; }

int64_t cached_of(const ServerRig& rig, int token) {
  const Json answer = parse_json(rig.complete(prompt_of(token)).body).value();
  return answer["usage"]["prompt_tokens_details"]["cached_tokens"];
}

TEST(Pins, OutliveOthers) {
  const ServerRig rig(small_store());
  rig.complete(prompt_of(40));
  const auto pinned = rig.call("POST", "/v1/cache/pins?ttl=3600", prompt_of(40));
  ASSERT_EQ(pinned.status, 200) << pinned.body;
  const Json pin = parse_json(pinned.body).value();
  EXPECT_EQ(pin["tokens"], 192) << "whole pages of 32";
  EXPECT_EQ(pin["cached_tokens"], 192);
  EXPECT_GT(pin["expires_in"], 3000);
  for (int token = 41; token < 61; ++token) rig.complete(prompt_of(token));
  EXPECT_GE(cached_of(rig, 40), 192);
  EXPECT_EQ(cached_of(rig, 41), 0) << "the store doesn't hold all of them";
  EXPECT_EQ(parse_json(rig.call("GET", "/v1/cache").body).value()["pins"], 1);
  const std::string id = pin["id"];
  EXPECT_EQ(parse_json(rig.call("GET", "/v1/cache/pins").body).value()["data"][0]["id"], id);
  EXPECT_EQ(rig.call("DELETE", "/v1/cache/pins/" + id).status, 200);
  EXPECT_EQ(rig.call("DELETE", "/v1/cache/pins/" + id).status, 404);
  for (int token = 41; token < 61; ++token) rig.complete(prompt_of(token));
  EXPECT_EQ(cached_of(rig, 40), 0) << "like any other";
  rig.expect_all_released();
}

TEST(Pins, GiveWayToARequestThatNeedsTheWholeStore) {
  const ServerRig rig(small_store());
  const Json room = parse_json(rig.call("POST", "/v1/admission", {{"prompt", {5}}}).body).value();
  for (int token = 40; token < 60; ++token) {
    EXPECT_EQ(rig.call("POST", "/v1/cache/pins", prompt_of(token)).status, 200);
    rig.complete(prompt_of(token));
  }
  const int most = room["choices"][0]["position_limit"];
  const Json largest = {{"prompt", {5, 6}}, {"max_tokens", most - 2}, {"ignore_eos", true}};
  const Json answer = parse_json(rig.complete(largest).body).value();
  EXPECT_EQ(answer["usage"]["completion_tokens"], most - 2) << answer;
  rig.expect_all_released();
}

TEST(Pins, WhatCannotBeIsRefusedByName) {
  const ServerRig rig(small_store());
  const auto refused = rig.call("POST", "/v1/cache/pins", {{"prompt", {5, 6}}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("expected at least a page of 32 tokens, found 2"), std::string::npos) << refused.body;
  for (const char* query : {"?ttl=-1", "?ttl=x", "?ttl=99999999999999999999", "?nodes=3", "?ttl"}) {
    EXPECT_EQ(rig.call("POST", std::string("/v1/cache/pins") + query, prompt_of(40)).status, 400) << query;
  }
  EXPECT_EQ(rig.call("POST", "/v1/cache/pins", {{"prompt", std::vector<int>(300, 40)}}).status, 400) << "too long";
  EXPECT_EQ(
      rig.call("POST", "/v1/cache/pins", {{"prompt", {std::vector<int>(40, 40), std::vector<int>(40, 41)}}}).status,
      400);
  for (const char* id : {"pin-7", "7", "pin-", "pin-x", "pin-0", "pin-01", "pin-99999999999999999999", "..%2f"}) {
    EXPECT_EQ(rig.call("DELETE", std::string("/v1/cache/pins/") + id).status, 404) << id;
  }
  EXPECT_TRUE(parse_json(rig.call("GET", "/v1/cache/pins").body).value()["data"].empty());
}

TEST(Pins, WithoutACacheTheyAreUnsupported) {
  RigOptions options = small_store();
  options.engine.prefix_cache = false;
  const ServerRig rig(options);
  EXPECT_EQ(rig.call("POST", "/v1/cache/pins", prompt_of(40)).status, 501);
  EXPECT_EQ(rig.call("GET", "/v1/cache/pins").status, 501);
  EXPECT_EQ(rig.call("DELETE", "/v1/cache/pins/pin-1").status, 501);
}

TEST(Pins, BelongToTheirKey) {
  RigOptions options = small_store();
  options.server.api_keys = {"one", "two"};
  const ServerRig rig(options);
  const auto call = [&](const char* method, const std::string& path, const Json& body, const std::string& key) {
    return rig.call(method, path, body, "Authorization: Bearer " + key + "\r\n");
  };
  Json salted = prompt_of(40);
  salted["cache_salt"] = "mine";
  const Json pin = parse_json(call("POST", "/v1/cache/pins", salted, "one").body).value();
  const std::string path = "/v1/cache/pins/" + pin["id"].get<std::string>();
  EXPECT_TRUE(parse_json(call("GET", "/v1/cache/pins", nullptr, "two").body).value()["data"].empty());
  EXPECT_EQ(call("DELETE", path, nullptr, "two").status, 404);
  EXPECT_EQ(parse_json(call("GET", "/v1/cache/pins", nullptr, "one").body).value()["data"].size(), 1u);
  EXPECT_EQ(call("DELETE", path, nullptr, "one").status, 200) << "whatever its salt";
}

}  // namespace
}  // namespace ferrox
