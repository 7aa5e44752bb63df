// Does a server that sleeps run nothing, give its memory back, and answer afterwards as before?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/machine.h"
#include "server/server_rig.h"
#include "server/sleep.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::http_request;
using testing::RawClient;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;
using testing::TempFolder;

Json many_tokens(int first) {
  std::vector<int> prompt;
  for (int i = 0; i < 2000; ++i) prompt.push_back(10 + (first + i * 7) % 200);
  return {{"prompt", prompt}, {"max_tokens", 8}, {"temperature", 0}, {"ignore_eos", true}};
}

Json greedy_answer(const ServerRig& rig, const Json& question) {
  const RawResponse response = rig.complete(question);
  EXPECT_EQ(response.status, 200) << response.body;
  return Json::parse(response.body);
}

int64_t n_cached(const Json& answer) { return answer["usage"]["prompt_tokens_details"]["cached_tokens"]; }

Json sleep_state(const ServerRig& rig) { return Json::parse(rig.call("GET", "/is_sleeping").body); }

RigOptions large_store() {
  RigOptions options;
  options.engine.context_length = 4096;
  options.engine.kv_bytes = uint64_t{64} << 20;
  return options;
}

TEST(SleepState, AnOrderHoldsUntilTheNextOne) {
  const auto now = std::chrono::steady_clock::now();
  SleepState sleep(now);
  const uint64_t first = sleep.order_sleep();
  EXPECT_TRUE(sleep.refuses());
  EXPECT_FALSE(sleep.is_asleep());
  EXPECT_TRUE(sleep.is_valid(first));
  const uint64_t second = sleep.order_sleep();
  EXPECT_FALSE(sleep.is_valid(first));
  sleep.fall_asleep(SleepLevel::kDropAll);
  sleep.note_activity(now);
  EXPECT_TRUE(sleep.is_asleep()) << "nobody but an order wakes it";
  EXPECT_TRUE(sleep.order_wake(now + std::chrono::seconds(9)));
  EXPECT_EQ(sleep.active_at(), now + std::chrono::seconds(9)) << "it isn't idle since before it slept";
  EXPECT_FALSE(sleep.is_valid(second));
  EXPECT_FALSE(sleep.refuses());
  EXPECT_FALSE(sleep.order_wake(now));
  EXPECT_EQ(sleep.n_sleeps(), 1u);
}

TEST(SleepState, ADozeEndsByItself) {
  const auto now = std::chrono::steady_clock::now();
  SleepState sleep(now);
  sleep.fall_asleep(SleepLevel::kKeepPrefixes);
  EXPECT_TRUE(sleep.is_asleep());
  EXPECT_FALSE(sleep.refuses());
  sleep.note_activity(now + std::chrono::seconds(5));
  EXPECT_FALSE(sleep.is_asleep());
  EXPECT_EQ(sleep.active_at(), now + std::chrono::seconds(5));
}

TEST(SleepState, WhatIsDoneForAClientEndsADozeAndIsActivityToItsEnd) {
  const auto before = std::chrono::steady_clock::now();
  SleepState sleep(before - std::chrono::hours(1));
  sleep.fall_asleep(SleepLevel::kKeepPrefixes);
  {
    const Activity activity(sleep);
    EXPECT_FALSE(sleep.is_asleep());
    EXPECT_GE(sleep.active_at(), before);
    sleep.note_activity(before - std::chrono::hours(1));
  }
  EXPECT_GE(sleep.active_at(), before);
}

class SleepLevels : public ::testing::TestWithParam<int> {};

TEST_P(SleepLevels, GivesMemoryBackAndAnswersAsBefore) {
  const ServerRig rig(large_store());
  std::vector<Json> before;
  for (int i = 0; i < 2; ++i) before.push_back(greedy_answer(rig, many_tokens(i)));
  const Json cache = Json::parse(rig.call("GET", "/v1/cache").body);
  const int64_t held_bytes = cache["currencies"][0]["bytes"];
  ASSERT_GT(held_bytes, 4 << 20) << "enough to be seen";
  const uint64_t awake_bytes = anonymous_memory_bytes().value();
  const RawResponse asleep = rig.call("POST", fmt::format("/sleep?level={}", GetParam()));
  EXPECT_EQ(asleep.status, 200) << asleep.body;
  EXPECT_EQ(sleep_state(rig)["is_sleeping"], true);
  EXPECT_EQ(sleep_state(rig)["level"], GetParam());
  EXPECT_LT(anonymous_memory_bytes().value(), awake_bytes - static_cast<uint64_t>(held_bytes) * 8 / 10);
  EXPECT_EQ(rig.call("POST", "/wake_up").status, 200);
  EXPECT_EQ(sleep_state(rig)["is_sleeping"], false);
  for (int i = 0; i < 2; ++i) {
    const Json after = greedy_answer(rig, many_tokens(i));
    EXPECT_EQ(after["choices"][0]["text"], before[static_cast<size_t>(i)]["choices"][0]["text"]);
    EXPECT_EQ(n_cached(after), 0) << "there were no tiers";
  }
}

INSTANTIATE_TEST_SUITE_P(All, SleepLevels, ::testing::Values(1, 2));

TEST(Sleep, PrefixesComeBackFromTheTiersThatTheLevelLeaves) {
  const TempFolder folder;
  for (const bool has_disk : {false, true}) {
    RigOptions options = large_store();
    options.engine.kv_host_bytes = uint64_t{64} << 20;
    if (has_disk) options.engine.kv_disk = folder.path();
    const ServerRig rig(options);
    const Json before = greedy_answer(rig, many_tokens(1));
    const auto cached_after = [&](int level) {
      EXPECT_EQ(rig.call("POST", fmt::format("/sleep?level={}", level)).status, 200);
      EXPECT_EQ(rig.call("POST", "/wake_up").status, 200);
      const Json after = greedy_answer(rig, many_tokens(1));
      EXPECT_EQ(after["choices"][0]["text"], before["choices"][0]["text"]);
      return n_cached(after);
    };
    EXPECT_GT(cached_after(1), 1900) << has_disk;
    if (has_disk) {
      EXPECT_GT(cached_after(2), 1900) << "files stay";
    } else {
      EXPECT_EQ(cached_after(2), 0);
    }
  }
}

TEST(Sleep, RefusesUntilItIsWokenAndSaysSoEverywhere) {
  const ServerRig rig;
  EXPECT_EQ(rig.call("GET", "/readyz").status, 200);
  EXPECT_EQ(rig.call("POST", "/sleep").status, 200);
  const Json question = {{"prompt", "x"}, {"max_tokens", 1}};
  for (const RawResponse& refused : {rig.complete(question), rig.call("GET", "/readyz")}) {
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(Json::parse(refused.body)["error"]["code"], "sleeping");
    EXPECT_TRUE(refused.headers.contains("retry-after"));
  }
  const Json message = {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"max_tokens", 1}};
  EXPECT_THAT(rig.call("POST", "/v1/messages", message).body, HasSubstr("overloaded_error"));
  EXPECT_EQ(Json::parse(rig.call("GET", "/health").body)["status"], "sleeping") << "it lives";
  EXPECT_THAT(rig.call("GET", "/metrics").body, HasSubstr("\nferrox_sleep_level 1\n"));
  EXPECT_EQ(rig.engine->status().n_steps, 0u);
  EXPECT_EQ(rig.call("POST", "/sleep?level=2").status, 200) << "deeper";
  EXPECT_EQ(sleep_state(rig)["level"], 2);
  EXPECT_EQ(rig.call("POST", "/wake_up").status, 200);
  EXPECT_EQ(rig.complete(question).status, 200);
  EXPECT_EQ(rig.call("POST", "/wake_up").status, 200) << "nothing to do";
  for (const char* wrong : {"/sleep?level=0", "/sleep?level=3", "/sleep?level=x", "/sleep?mode=abort"}) {
    EXPECT_EQ(rig.call("POST", wrong).status, 400) << wrong;
  }
  EXPECT_EQ(rig.call("GET", "/readyz").status, 200);
}

TEST(Sleep, LetsWhatRunsEndFirst) {
  RigOptions options = large_store();
  const ServerRig rig(options);
  RawClient running(rig.port());
  const Json body = {{"prompt", "Once"}, {"max_tokens", 300}, {"ignore_eos", true}, {"seed", 3}};
  running.send(http_request("POST", "/v1/completions", dump_json(body)));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  RawClient sleeper(rig.port());
  sleeper.send(http_request("POST", "/sleep"));
  while (rig.call("GET", "/readyz").status == 200) {
  }
  EXPECT_EQ(rig.complete(body).status, 503) << "from the order on";
  const Json answer = Json::parse(running.read_response().body);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 300);
  EXPECT_EQ(sleeper.read_response().status, 200);
  EXPECT_EQ(rig.call("POST", "/wake_up").status, 200);
  EXPECT_EQ(greedy_answer(rig, body)["choices"][0]["text"], answer["choices"][0]["text"]);
}

TEST(Sleep, AWakeThatComesBeforeOvertakesIt) {
  RigOptions options;
  options.engine.context_length = 1 << 15;
  const ServerRig rig(options);
  RawClient running(rig.port());
  const Json body = {{"prompt", "Once"}, {"max_tokens", -1}, {"ignore_eos", true}, {"stream", true}};
  running.send(http_request("POST", "/v1/completions", dump_json(body)));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  RawClient sleeper(rig.port());
  sleeper.send(http_request("POST", "/sleep"));
  while (rig.call("GET", "/readyz").status == 200) {
  }
  EXPECT_EQ(rig.call("POST", "/wake_up").status, 200);
  EXPECT_EQ(sleeper.read_response().status, 409);
  EXPECT_EQ(rig.call("GET", "/readyz").status, 200);
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"max_tokens", 1}}).status, 200);
}

TEST(Sleep, AnIdleServerDozesAndTheNextRequestWakesIt) {
  RigOptions options = large_store();
  options.server.sleep_idle = std::chrono::milliseconds(100);
  ServerRig rig(options);
  const Json before = greedy_answer(rig, many_tokens(1));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (sleep_state(rig)["is_sleeping"] == false) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  EXPECT_EQ(sleep_state(rig)["wakes_by_itself"], true);
  EXPECT_EQ(rig.call("GET", "/readyz").status, 200);
  const Json after = greedy_answer(rig, many_tokens(1));
  EXPECT_EQ(n_cached(after), 0);
  EXPECT_EQ(after["choices"][0]["text"], before["choices"][0]["text"]);
  EXPECT_THAT(rig.call("GET", "/metrics").body, ::testing::Not(HasSubstr("\nferrox_sleeps_total 0\n")));
  rig.stop();
}

TEST(Sleep, ContiguousMemoryGoesBackAsWell) {
  RigOptions options;
  options.engine.kv_storage = KvStorage::kContiguous;
  options.engine.prefix_cache = false;
  options.engine.context_length = 4096;
  const ServerRig rig(options);
  const Json before = greedy_answer(rig, many_tokens(1));
  EXPECT_EQ(rig.call("POST", "/sleep").status, 200);
  EXPECT_EQ(rig.call("POST", "/wake_up").status, 200);
  EXPECT_EQ(greedy_answer(rig, many_tokens(1))["choices"][0]["text"], before["choices"][0]["text"]);
}

TEST(Sleep, IsAnAdminsMatter) {
  RigOptions options;
  ApiKey alice;
  alice.name = "alice";
  alice.sha256 = digest_of("alice-key");
  options.server.keys = {alice};
  options.server.api_keys = {"root-key"};
  const ServerRig rig(options);
  for (const char* path : {"/sleep", "/wake_up", "/admin/drain"}) {
    EXPECT_EQ(rig.call("POST", path).status, 401) << path;
    EXPECT_EQ(rig.call("POST", path, nullptr, "x-api-key: alice-key\r\n").status, 403) << path;
    EXPECT_EQ(rig.call("POST", path, nullptr, "x-api-key: root-key\r\n").status, 200) << path;
  }
}

TEST(AdminDrain, WhatRunsEndsNothingElseIsAdmittedAndASignalEndsIt) {
  RigOptions options;
  options.engine.context_length = 4096;
  options.server.drain_timeout = std::chrono::minutes(10);
  ServerRig rig(options);
  RawClient running(rig.port());
  const Json body = {{"prompt", "Once"}, {"max_tokens", 300}, {"ignore_eos", true}};
  running.send(http_request("POST", "/v1/completions", dump_json(body)));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  const RawResponse drained = rig.call("POST", "/admin/drain");
  EXPECT_EQ(drained.status, 200);
  EXPECT_EQ(Json::parse(drained.body)["running"], 1);
  for (const RawResponse& refused : {rig.complete(body), rig.call("GET", "/readyz"), rig.call("POST", "/sleep")}) {
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(Json::parse(refused.body)["error"]["code"], "draining");
  }
  EXPECT_EQ(Json::parse(running.read_response().body)["usage"]["completion_tokens"], 300);
  EXPECT_EQ(rig.call("POST", "/admin/drain").status, 200) << "it is still there";
  rig.stop();
}

}  // namespace
}  // namespace ferrox
