// Does each key get what its entry says, and nothing of the others'?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "server/client_work.h"
#include "server/endpoint.h"
#include "server/server_rig.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::http_request;
using testing::RawClient;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;

/// The key of "alice" is "alice-key".
ApiKey entry_for(const std::string& name) {
  ApiKey key;
  key.name = name;
  key.sha256 = digest_of(name + "-key");
  return key;
}

ApiKey admin_entry() {
  ApiKey key = entry_for("root");
  key.is_admin = true;
  key.priority = -10;
  return key;
}

RigOptions with_keys(std::vector<ApiKey> keys) {
  RigOptions options;
  options.engine.context_length = 1 << 15;
  options.server.keys = std::move(keys);
  return options;
}

std::string key_header(const std::string& name) { return "Authorization: Bearer " + name + "-key\r\n"; }

RawResponse call_as(const ServerRig& rig, const std::string& name, std::string_view path, const Json& body) {
  return rig.call("POST", path, body, key_header(name));
}

RawResponse complete_as(const ServerRig& rig, const std::string& name, Json more = Json::object()) {
  more["prompt"] = "Once upon a time";
  more["max_tokens"] = 2;
  return call_as(rig, name, "/v1/completions", more);
}

std::string error_code_of(const RawResponse& response) {
  return Json::parse(response.body)["error"]["code"].get<std::string>();
}

/// A stream that goes on until its client leaves.
std::unique_ptr<RawClient> endless_as(const ServerRig& rig, const std::string& name) {
  auto client = std::make_unique<RawClient>(rig.port());
  const Json body = {{"prompt", "Once"}, {"max_tokens", -1}, {"ignore_eos", true}, {"stream", true}};
  client->send(http_request("POST", "/v1/completions", dump_json(body), key_header(name)));
  return client;
}

double metric(const ServerRig& rig, const std::string& admin, const std::string& name) {
  const std::string text = rig.call("GET", "/metrics", nullptr, key_header(admin)).body;
  const size_t at = text.find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << name;
  return std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

TEST(Rights, KeysOfAFileAreKeysLikeOthers) {
  RigOptions options = with_keys({entry_for("alice")});
  options.server.api_keys = {"plain-key"};
  const ServerRig rig(options);
  EXPECT_EQ(complete_as(rig, "alice").status, 200);
  EXPECT_EQ(complete_as(rig, "plain").status, 200);
  EXPECT_EQ(complete_as(rig, "nobody").status, 401);
  EXPECT_EQ(rig.call("GET", "/v1/models", nullptr, "x-api-key: alice-key\r\n").status, 200);
}

// P7: a walk through the registry, so that no endpoint that concerns others is open to all.
TEST(Rights, WhatConcernsOthersIsAnAdmins) {
  RigOptions options = with_keys({entry_for("alice"), admin_entry()});
  options.server.api_keys = {"plain-key"};
  const ServerRig rig(options);
  int n_admin = 0;
  for (const Endpoint* const* row = all_endpoint; *row != nullptr; ++row) {
    if ((*row)->access != Access::kAdmin) continue;
    ++n_admin;
    const RawResponse refused = rig.call((*row)->method, (*row)->path, nullptr, key_header("alice"));
    EXPECT_EQ(refused.status, 403) << (*row)->path;
    EXPECT_EQ(error_code_of(refused), "forbidden");
    EXPECT_THAT(refused.body, HasSubstr("alice"));
  }
  EXPECT_GT(n_admin, 0);
  for (const char* may : {"root", "plain"}) EXPECT_EQ(call_as(rig, may, "/v1/cache/clear", nullptr).status, 200) << may;
  EXPECT_EQ(ServerRig().call("POST", "/v1/cache/clear").status, 200) << "without keys everything is allowed";
}

TEST(Rights, NobodyCancelsWhatIsAnothers) {
  const ServerRig rig(with_keys({entry_for("alice"), entry_for("bob"), admin_entry()}));
  for (const char* may : {"alice", "root"}) {
    const auto running = endless_as(rig, "alice");
    const Json id = {{"id", "cmpl-" + running->read_head().headers.at("x-request-id")}};
    const RawResponse refused = call_as(rig, "bob", "/v1/cancel", id);
    EXPECT_EQ(refused.status, 404);
    EXPECT_EQ(refused.body, call_as(rig, "bob", "/v1/cancel", {{"id", "cmpl-none"}}).body) << "as if it were unknown";
    EXPECT_EQ(rig.engine->status().n_running, 1);
    EXPECT_EQ(call_as(rig, may, "/v1/cancel", id).status, 200);
    EXPECT_THAT(running->read_until("[DONE]"), HasSubstr("\"cancelled\""));
  }
}

// X5: the range is the schema's, what of it a key may ask for is the key's.
TEST(Rights, PriorityIsBoundedByTheKey) {
  RigOptions options = with_keys({entry_for("alice"), admin_entry()});
  options.server.api_keys = {"plain-key"};
  const ServerRig rig(options);
  const auto status = [&](const char* name, int priority) {
    const Json field = {{"priority", priority}};
    const RawResponse response = complete_as(rig, name, field);
    Json asked = {{"prompt", "x"}, {"max_tokens", 1}, {"priority", priority}};
    EXPECT_EQ(call_as(rig, name, "/v1/admission", asked).status, response.status);
    if (response.status == 403) {
      EXPECT_EQ(error_code_of(response), "forbidden");
    }
    return response.status;
  };
  EXPECT_EQ(status("alice", 0), 200);
  EXPECT_EQ(status("alice", 100), 200);
  EXPECT_EQ(status("alice", -1), 403);
  EXPECT_EQ(status("root", -10), 200);
  EXPECT_EQ(status("root", -11), 403);
  EXPECT_EQ(status("plain", -100), 200);
  EXPECT_EQ(status("plain", -101), 400);
  EXPECT_EQ(status("plain", 101), 400);
  EXPECT_THAT(complete_as(rig, "alice", {{"priority", -1}}).body,
              HasSubstr("priority: expected a number from 0 to 100 with the key of 'alice', found -1"));
  EXPECT_EQ(testing::shared_server().complete({{"prompt", "x"}, {"max_tokens", 1}, {"priority", -100}}).status, 200);
}

// C13: prefixes are apart by the names of keys, so that a new key of the same name goes on behind the old one's.
TEST(Rights, ANameIsANamespace) {
  const ServerRig rig(with_keys({entry_for("alice"), entry_for("bob")}));
  EXPECT_EQ(complete_as(rig, "alice", {{"cache_salt", "s"}}).status, 200);
  std::promise<std::vector<SlotState>> slots;
  ASSERT_TRUE(rig.engine->ask_slots([&](std::vector<SlotState> state) { slots.set_value(std::move(state)); }));
  std::vector<std::string> spaces;
  for (const SlotState& slot : slots.get_future().get()) spaces.push_back(slot.space);
  EXPECT_THAT(spaces, ::testing::Contains("alice\ns"));
}

// A7: ten at once with a limit of two. Two run, eight are refused at once, other keys don't notice.
TEST(Quotas, OpenRequestsAreBoundedExactly) {
  ApiKey alice = entry_for("alice");
  alice.max_requests = 2;
  const ServerRig rig(with_keys({alice, entry_for("bob")}));
  std::vector<std::unique_ptr<RawClient>> clients;
  int n_refused = 0;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(endless_as(rig, "alice"));
    const RawResponse head = clients.back()->read_head();
    if (head.status == 200) continue;
    ++n_refused;
    EXPECT_EQ(head.status, 429);
    EXPECT_GE(std::stoi(head.headers.at("retry-after")), 1);
  }
  EXPECT_EQ(n_refused, 8);
  const RawResponse refused = complete_as(rig, "alice");
  EXPECT_EQ(error_code_of(refused), "rate_limit_exceeded");
  EXPECT_THAT(refused.body, HasSubstr("expected at most 2 at once, found 1 beside 2 open ones"));
  EXPECT_EQ(complete_as(rig, "bob").status, 200);
  EXPECT_EQ(metric(rig, "bob", "ferrox_refused_quota_total"), 9);
  clients.clear();
  rig.expect_all_released();
  while (complete_as(rig, "alice").status == 429) std::this_thread::yield();
  EXPECT_EQ(complete_as(rig, "alice").status, 200) << "what ended, however it did, is open no more";
}

// S8: choices count each, or one request would be a hundred.
TEST(Quotas, ChoicesAreRequests) {
  ApiKey alice = entry_for("alice");
  alice.max_requests = 2;
  const ServerRig rig(with_keys({alice}));
  EXPECT_EQ(complete_as(rig, "alice", {{"n", 2}}).status, 200);
  const RawResponse never = complete_as(rig, "alice", {{"n", 3}});
  EXPECT_EQ(never.status, 400) << "no waiting would help";
  EXPECT_THAT(never.body, HasSubstr("n: expected at most 2 choices of all prompts"));
  const auto running = endless_as(rig, "alice");
  EXPECT_EQ(running->read_head().status, 200);
  EXPECT_EQ(complete_as(rig, "alice", {{"n", 2}}).status, 429);
  EXPECT_EQ(complete_as(rig, "alice").status, 200);
}

TEST(Quotas, TokensOfPromptAndAnswerAreChargedAsUsageCountsThem) {
  for (const bool stream : {false, true}) {
    ApiKey alice = entry_for("alice");
    alice.tokens_per_minute = 1;  // so slow that nothing is paid back meanwhile
    const ServerRig rig(with_keys({alice, entry_for("bob")}));
    Json asked = {{"prompt", "Once upon a time"}, {"max_tokens", 30}, {"n", 2}, {"seed", 1}};
    const Json usage = Json::parse(call_as(rig, "bob", "/v1/completions", asked).body)["usage"];
    asked["stream"] = stream;
    EXPECT_EQ(call_as(rig, "alice", "/v1/completions", asked).status, 200);
    const RawResponse refused = complete_as(rig, "alice");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(error_code_of(refused), "rate_limit_exceeded");
    const int64_t more = usage["total_tokens"].get<int64_t>() - 1;
    EXPECT_THAT(refused.body, HasSubstr(fmt::format("expected at most 1 a minute, found {} more", more)));
    const int64_t wait_s = std::stoll(refused.headers.at("retry-after"));
    EXPECT_LE(wait_s, more * 60 + 1);
    EXPECT_GT(wait_s, (more - 1) * 60);
    EXPECT_EQ(complete_as(rig, "bob").status, 200);
  }
}

TEST(Quotas, AreAskedBeforeABodyIsLookedAt) {
  ApiKey alice = entry_for("alice");
  alice.tokens_per_minute = 1;
  const ServerRig rig(with_keys({alice}));
  EXPECT_EQ(complete_as(rig, "alice").status, 200);
  EXPECT_EQ(call_as(rig, "alice", "/v1/completions", "no request at all").status, 429);
  EXPECT_EQ(rig.call("GET", "/v1/models", nullptr, key_header("alice")).status, 200)
      << "what costs no tokens is served";
}

/// What makes tokens of its body.
constexpr const char* kMeteredPaths[] = {"/v1/completions", "/v1/chat/completions", "/v1/messages",
                                         "/v1/admission",   "/v1/sessions",         "/v1/messages/count_tokens",
                                         "/v1/cache/pins"};

TEST(Quotas, AllThatTokenisesIsMetered) {
  ApiKey alice = entry_for("alice");
  alice.tokens_per_minute = 1;
  const ServerRig rig(with_keys({alice, entry_for("bob")}));
  EXPECT_EQ(complete_as(rig, "alice").status, 200);
  for (const char* path : kMeteredPaths) {
    EXPECT_EQ(call_as(rig, "alice", path, "no request at all").status, 429) << path;
    EXPECT_EQ(call_as(rig, "bob", path, "no request at all").status, 400) << path;
  }
}

// A request counts from its head on: hundreds of bodies under way, or of prompts that wait for a worker, are no way
// around a limit of one.
TEST(Quotas, WhatIsStillReadIsOpen) {
  ApiKey alice = entry_for("alice");
  alice.max_requests = 1;
  const ServerRig rig(with_keys({alice, entry_for("bob")}));
  const Json message = {{"max_tokens", 1}, {"messages", {{{"role", "user"}, {"content", "x"}}}}};
  const auto status = [&] { return call_as(rig, "alice", "/v1/messages/count_tokens", message).status; };
  const auto wait_for = [&](int expected) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (status() != expected && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(status(), expected);
  };
  EXPECT_EQ(status(), 200);
  EXPECT_EQ(status(), 200) << "an answer is open no more when its client has it";
  for (const char* path : kMeteredPaths) {
    RawClient slow(rig.port());
    slow.send(fmt::format("POST {} HTTP/1.1\r\nHost: x\r\n{}Content-Length: 10\r\n\r\n{{", path, key_header("alice")));
    wait_for(429);
    EXPECT_EQ(complete_as(rig, "bob").status, 200);
    slow.close();
    wait_for(200);
  }
}

TEST(ClientWork, IsNotBegunForOneThatLeft) {
  bool was_done = false;
  std::function<ApiResult<int>()> work = [&]() -> ApiResult<int> {
    was_done = true;
    return 7;
  };
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  const auto task = client_work_detail::unless_gone<int>(is_gone, std::move(work));
  EXPECT_EQ(task().value(), 7);
  was_done = false;
  *is_gone = true;
  EXPECT_EQ(task().error().status, 499);
  EXPECT_FALSE(was_done);
}

TEST(Quotas, WhatTheEngineRefusesIsNotCharged) {
  ApiKey alice = entry_for("alice");
  alice.tokens_per_minute = 1;
  alice.max_requests = 1;
  RigOptions options = with_keys({alice});
  options.engine.context_length = 64;
  const ServerRig rig(options);
  std::string text;
  for (int i = 0; i < 200; ++i) text += "a ";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call_as(rig, "alice", "/v1/completions", {{"prompt", text}}).status, 400);
  EXPECT_EQ(complete_as(rig, "alice").status, 200);
}

}  // namespace
}  // namespace ferrox
