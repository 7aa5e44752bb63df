// Do models, health and the errors of routes, keys and hosts look as clients expect?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/endpoint.h"
#include "server/schema/query.h"
#include "server/server_rig.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::http_request;
using testing::RawClient;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;
using testing::shared_server;

std::string code_of(const RawResponse& response) {
  return Json::parse(response.body)["error"]["code"].get<std::string>();
}

TEST(Endpoints, Health) {
  const RawResponse response = shared_server().call("GET", "/health");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(Json::parse(response.body)["status"], "ok");
}

// P3: a long prompt doesn't make a good server look bad.
TEST(Endpoints, ASlowEngineLivesAndOneThatHangsDoesnt) {
  const RawResponse live = shared_server().call("GET", "/livez");
  EXPECT_EQ(live.status, 200);
  EXPECT_EQ(Json::parse(live.body)["status"], "live");
  RigOptions options;
  options.server.stall_limit = std::chrono::milliseconds(0);
  const RawResponse stalled = ServerRig(options).call("GET", "/livez");
  EXPECT_EQ(stalled.status, 503);
  EXPECT_EQ(code_of(stalled), "stalled");
}

TEST(Endpoints, ShortBodiesAreAskedForWhereEverybodyWaits) {
  int n_short = 0;
  for (const Endpoint* const* row = all_endpoint; *row != nullptr; ++row) {
    if ((*row)->most_body_bytes > kSmallBodyBytes) continue;
    ++n_short;
    RawClient client(shared_server().port());
    client.send(fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n", (*row)->method,
                            (*row)->path, kSmallBodyBytes + 1));
    EXPECT_EQ(client.read_response().status, 413) << (*row)->path;
  }
  EXPECT_EQ(n_short, 3);
}

TEST(Endpoints, QueriesAreShort) {
  std::string query;
  for (int i = 0; i < 16; ++i) query += fmt::format("&n{}={}", i, i);
  ASSERT_TRUE(split_query(query));
  EXPECT_EQ(split_query(query)->size(), 16u);
  const auto many = split_query(query + "&more");
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().message, HasSubstr("expected at most 16 parameters"));
  const std::string name(5000, 'a');
  const auto twice = split_query(name + "&" + name);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().param.size(), kShownLetters);
}

TEST(Endpoints, LogsShowOnlyTheBeginningOfAnIdThatOpensSomething) {
  EXPECT_EQ(logged_path("/v1/streams/0123456789abcdef"), "/v1/streams/01234567...");
  EXPECT_EQ(logged_path("/v1/sessions/0123456789abcdef"), "/v1/sessions/01234567...");
  EXPECT_EQ(logged_path("/v1/sessions/restore"), "/v1/sessions/restore");
  EXPECT_EQ(logged_path("/v1/models/a-long-name-of-a-model"), "/v1/models/a-long-name-of-a-model");
}

TEST(Endpoints, Models) {
  const std::string& id = shared_server().engine->model_id();
  const Json list = Json::parse(shared_server().call("GET", "/v1/models").body);
  EXPECT_EQ(list["object"], "list");
  ASSERT_EQ(list["data"].size(), 1u);
  EXPECT_EQ(list["data"][0]["id"], id);
  EXPECT_EQ(list["data"][0]["context_length"], shared_server().engine->context_length());
  EXPECT_EQ(Json::parse(shared_server().call("GET", "/v1/models/" + id).body)["object"], "model");
  const RawResponse other = shared_server().call("GET", "/v1/models/gpt-4");
  EXPECT_EQ(other.status, 404);
  EXPECT_EQ(code_of(other), "model_not_found");
}

TEST(Endpoints, UnknownRoutesAndMethods) {
  EXPECT_EQ(shared_server().call("GET", "/v2").status, 404);
  EXPECT_EQ(code_of(shared_server().call("GET", "/v2")), "not_found");
  const RawResponse method = shared_server().call("GET", "/v1/completions");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.at("allow"), "POST");
  EXPECT_EQ(code_of(method), "method_not_allowed");
}

TEST(Endpoints, MalformedBodies) {
  for (const char* path : {"/v1/completions", "/v1/chat/completions"}) {
    for (const char* body : {"{", "[]", "7", "\"x\"", "{\"prompt\":\"\\ud800\"}"}) {
      RawClient client(shared_server().port());
      client.send(http_request("POST", path, body));
      const RawResponse response = client.read_response();
      EXPECT_EQ(response.status, 400) << path << body;
      EXPECT_EQ(code_of(response), "invalid_request_error");
    }
    EXPECT_EQ(shared_server().call("POST", path).status, 400);
  }
}

TEST(Endpoints, CancelNamesARunningRequest) {
  EXPECT_EQ(shared_server().call("POST", "/v1/cancel", {{"id", "cmpl-none"}}).status, 404);
  EXPECT_EQ(shared_server().call("POST", "/v1/cancel", {{"id", 7}}).status, 400);
  EXPECT_EQ(shared_server().call("POST", "/v1/cancel", Json::array()).status, 400);
  const RawResponse listed = shared_server().call("POST", "/v1/cancel", {{"id", "cmpl-none"}, {"why", "because"}});
  EXPECT_EQ(listed.headers.at("x-ferrox-ignored"), "why");
}

// S5: a page can't reach the server by a name of its own that points here.
TEST(Endpoints, ForeignHostsAndOriginsAreRefused) {
  RawClient client(shared_server().port());
  client.send("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  const RawResponse host = client.read_response();
  EXPECT_EQ(host.status, 403);
  EXPECT_EQ(code_of(host), "forbidden");
  EXPECT_EQ(shared_server().call("GET", "/v1/models", nullptr, "Origin: https://evil.example\r\n").status, 403);
  EXPECT_EQ(shared_server().call("GET", "/v1/models", nullptr, "Origin: http://localhost:1\r\n").status, 200);
}

// P7, S7: nothing but the health check is open to those without a key.
TEST(Endpoints, KeysAreAskedForEverywhereButHealth) {
  RigOptions options;
  options.server.api_keys = {"secret"};
  ServerRig rig(options);
  const RawResponse none = rig.call("GET", "/v1/models");
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(code_of(none), "invalid_api_key");
  EXPECT_EQ(none.headers.at("www-authenticate"), "Bearer");
  EXPECT_EQ(rig.call("GET", "/v1/models", nullptr, "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_EQ(rig.call("GET", "/v1/models", nullptr, "Authorization: Bearer secret\r\n").status, 200);
  EXPECT_EQ(rig.call("GET", "/v1/models", nullptr, "x-api-key: secret\r\n").status, 200);
  EXPECT_EQ(rig.call("GET", "/health").status, 200);
  EXPECT_EQ(rig.call("POST", "/v1/completions", {{"prompt", "x"}}).status, 401);
}

TEST(Endpoints, StrictServersRefuseNamesTheyDontKnow) {
  RigOptions options;
  options.server.strict_fields = true;
  options.server.strict_model = true;
  ServerRig rig(options);
  const std::string& id = rig.engine->model_id();
  EXPECT_EQ(code_of(rig.complete({{"prompt", "x"}, {"model", "gpt-4"}})), "model_not_found");
  EXPECT_THAT(rig.complete({{"prompt", "x"}, {"model", id}, {"made_up", 1}}).body, HasSubstr("made_up"));
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"model", id}, {"max_tokens", 1}}).status, 200);
  const auto say = [&](const Json& message) {
    return rig.chat({{"messages", Json::array({message})}, {"model", id}, {"max_tokens", 1}});
  };
  EXPECT_EQ(say({{"role", "user"}, {"content", "x"}, {"name", "bob"}}).status, 200);
  EXPECT_THAT(say({{"role", "user"}, {"content", "x"}, {"foo", 1}}).body, HasSubstr("messages[].foo"));
  EXPECT_THAT(rig.call("POST", "/v1/cancel", {{"id", "x"}, {"why", 1}}).body, HasSubstr("why"));
}

TEST(Endpoints, StrangersNeedAKeyOrAWord) {
  ServerOptions options;
  options.host = "0.0.0.0";
  options.port = 0;
  const auto refused = Server::open(*shared_server().engine, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  options.allow_unauthenticated_remote = true;
  EXPECT_TRUE(Server::open(*shared_server().engine, options));
  options.allow_unauthenticated_remote = false;
  options.api_keys = {"k"};
  EXPECT_TRUE(Server::open(*shared_server().engine, options));
}

}  // namespace
}  // namespace ferrox
