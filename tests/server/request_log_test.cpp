// Does the log tell of every request, under the id that its client saw, and never what it said?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "server/server_rig.h"
#include "server/status_line.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::http_request;
using ::testing::Not;
using testing::RawClient;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;

/// A server all of whose lines are caught, at every level.
class LoggedServer {
 public:
  explicit LoggedServer(LogFormat format = LogFormat::kJson, RigOptions options = {}) {
    set_log_format(format);
    ::testing::internal::CaptureStderr();
    rig_ = std::make_unique<ServerRig>(std::move(options));
    log().set_level(spdlog::level::trace);
  }
  ~LoggedServer() {
    if (rig_ != nullptr) text();
  }

  ServerRig& rig() { return *rig_; }

  /// Ends the server; what it said.
  std::string text() {
    rig_.reset();
    log().set_level(spdlog::level::warn);
    set_log_format(LogFormat::kText);
    return ::testing::internal::GetCapturedStderr();
  }

  std::vector<Json> lines() {
    std::vector<Json> lines;
    std::istringstream said(text());
    for (std::string line; std::getline(said, line);) lines.push_back(Json::parse(line));
    return lines;
  }

 private:
  std::unique_ptr<ServerRig> rig_;
};

/// The line that sums up a request; null: there is none.
Json summary_of(const std::vector<Json>& lines, const std::string& id) {
  Json found;
  for (const Json& line : lines) {
    if (line.value("request_id", "") != id || !line.contains("total_ms")) continue;
    EXPECT_TRUE(found.is_null()) << "one for each request";
    found = line;
  }
  return found;
}

TEST(RequestLog, ALineSumsUpAnAnswer) {
  LoggedServer server;
  const RawResponse answer =
      server.rig().complete({{"prompt", "One two three"}, {"max_tokens", 5}, {"ignore_eos", true}});
  const Json usage = Json::parse(answer.body)["usage"];
  const Json line = summary_of(server.lines(), answer.headers.at("x-request-id"));
  ASSERT_FALSE(line.is_null());
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["message"], "answered");
  EXPECT_EQ(line["method"], "POST");
  EXPECT_EQ(line["path"], "/v1/completions");
  EXPECT_EQ(line["endpoint"], "/v1/completions");
  EXPECT_EQ(line["status"], 200);
  EXPECT_EQ(line["prompt_tokens"], usage["prompt_tokens"]);
  EXPECT_EQ(line["cached_tokens"], 0);
  EXPECT_EQ(line["completion_tokens"], 5);
  EXPECT_EQ(line["finish_reason"], "length");
  EXPECT_TRUE(line["queue_ms"].is_number());
  EXPECT_GT(line["ttft_ms"].get<double>(), 0);
  EXPECT_GE(line["total_ms"].get<double>(), line["ttft_ms"].get<double>());
  EXPECT_FALSE(line.contains("caller"));
}

TEST(RequestLog, ChoicesOfOnePromptAreCountedAsUsageCountsThem) {
  LoggedServer server;
  const RawResponse answer = server.rig().complete(
      {{"prompt", "One two three"}, {"max_tokens", 5}, {"n", 3}, {"ignore_eos", true}, {"temperature", 1}});
  const Json usage = Json::parse(answer.body)["usage"];
  const Json line = summary_of(server.lines(), answer.headers.at("x-request-id"));
  EXPECT_EQ(line["answers"], 3);
  EXPECT_EQ(line["prompt_tokens"], usage["prompt_tokens"]);
  EXPECT_EQ(line["completion_tokens"], usage["completion_tokens"]);
  EXPECT_EQ(line["finish_reason"], "length");
}

TEST(RequestLog, RefusalsAreThereWithTheIdThatTheClientSaw) {
  RigOptions options;
  ApiKey alice;
  alice.name = "alice";
  alice.sha256 = digest_of("alice-key");
  options.server.keys = {alice};
  options.server.limits.max_body_bytes = 1000;
  LoggedServer server(LogFormat::kJson, options);
  const std::string key = "Authorization: Bearer alice-key\r\n";
  struct Case {
    const char* path;
    std::string body;
    std::string headers;
    int status;
    const char* code;
    bool is_known;  ///< who calls
  };
  const std::vector<Case> cases = {
      {"/v1/completions", R"({"prompt": "x"})", "", 401, "invalid_api_key", false},
      {"/v1/nothing", "{}", key, 404, "not_found", false},
      {"/v1/completions", R"({"prompt": 7})", key, 400, "invalid_request_error", true},
      {"/v1/messages", R"({"max_tokens": 7})", key, 400, "invalid_request_error", true},
      {"/v1/completions", std::string(2000, ' '), key, 413, "request_too_large", false},
      {"/v1/completions", "{}", key + "Content-Encoding: gzip\r\n", 415, "invalid_request_error", false},
  };
  std::vector<std::string> ids;
  for (const Case& each : cases) {
    RawClient client(server.rig().port());
    client.send(http_request("POST", each.path, each.body, each.headers));
    const RawResponse response = client.read_response();
    EXPECT_EQ(response.status, each.status) << each.path;
    ids.push_back(response.headers.at("x-request-id"));
    if (std::string_view(each.path) == "/v1/messages") {
      EXPECT_EQ(Json::parse(response.body)["request_id"], ids.back());
    }
  }
  RawClient garbled(server.rig().port());
  garbled.send("nonsense\r\n\r\n");
  const std::string unread = garbled.read_response().headers.at("x-request-id");
  const auto lines = server.lines();
  for (size_t i = 0; i < cases.size(); ++i) {
    const Json line = summary_of(lines, ids[i]);
    ASSERT_FALSE(line.is_null()) << cases[i].path << cases[i].status;
    EXPECT_EQ(line["status"], cases[i].status);
    EXPECT_EQ(line["message"], "refused");
    EXPECT_EQ(line["error"], cases[i].code);
    EXPECT_EQ(line["path"], cases[i].path);
    EXPECT_EQ(line.contains("caller"), cases[i].is_known) << i;
  }
  EXPECT_EQ(summary_of(lines, unread)["status"], 400);
}

TEST(RequestLog, AClientThatLeavesIsSaidSo) {
  RigOptions options;
  options.engine.context_length = 1 << 15;
  LoggedServer server(LogFormat::kJson, options);
  std::string id;
  {
    RawClient client(server.rig().port());
    client.send(http_request("POST", "/v1/completions",
                             R"({"prompt": "Hi", "max_tokens": -1, "ignore_eos": true, "stream": true})"));
    id = client.read_head().headers.at("x-request-id");
    client.read_chunk();
  }
  server.rig().expect_all_released();
  const Json line = summary_of(server.lines(), id);
  EXPECT_EQ(line["message"], "broken off");
  EXPECT_EQ(line["status"], 200);
  EXPECT_GT(line["completion_tokens"], 0);
}

TEST(RequestLog, AStreamThatGoesOnAloneHasALineAtItsEnd) {
  LoggedServer server;
  std::string id;
  {
    RawClient client(server.rig().port());
    client.send(http_request("POST", "/v1/completions",
                             R"({"prompt": "Hi", "max_tokens": 60, "ignore_eos": true, "stream": true})",
                             "x-ferrox-resumable: true\r\n"));
    const RawResponse head = client.read_head();
    id = head.headers.at("x-request-id");
    client.reset();
    RawClient other(server.rig().port());  // what comes from where it is known that the first left
    other.send(http_request("GET", "/v1/streams/" + head.headers.at("x-ferrox-stream-id")));
    other.read_response();
  }
  server.rig().expect_all_released();
  std::vector<Json> ends;
  Json summary;
  for (const Json& line : server.lines()) {
    if (line.value("request_id", "") != id) continue;
    if (line["message"] == "stream ended") ends.push_back(line);
    if (line.contains("total_ms")) summary = line;
  }
  ASSERT_FALSE(summary.is_null());
  ASSERT_LE(ends.size(), 1u);
  const Json& last = ends.empty() ? summary : ends.front();  // the first may have been slow to leave
  EXPECT_EQ(last["completion_tokens"], 60);
  EXPECT_EQ(last["finish_reason"], "length");
  EXPECT_EQ(last["endpoint"], "/v1/completions");
}

TEST(RequestLog, WhatTheEngineRefusesUsedNoTokens) {
  RigOptions options;
  options.engine.context_length = 64;
  LoggedServer server(LogFormat::kJson, options);
  const RawResponse refused = server.rig().complete({{"prompt", std::vector<int>(100, 7)}, {"max_tokens", 1}});
  EXPECT_EQ(refused.status, 400);
  const Json line = summary_of(server.lines(), refused.headers.at("x-request-id"));
  EXPECT_EQ(line["message"], "refused");
  for (const char* name : {"prompt_tokens", "completion_tokens", "answers"}) EXPECT_FALSE(line.contains(name)) << name;
}

TEST(RequestLog, EveryLineAboutARequestHasItsId) {
  LoggedServer server;
  server.rig().complete({{"prompt", "One"}, {"max_tokens", 1}});
  server.rig().call("GET", "/v1/models");
  for (const Json& line : server.lines()) {
    const std::string message = line["message"];
    const bool is_of_request = message == "begun" || message == "answered";
    EXPECT_EQ(line.contains("request_id"), is_of_request) << line;
  }
}

TEST(RequestLog, ProbesAreDetails) {
  LoggedServer server;
  const std::string id = server.rig().call("GET", "/health").headers.at("x-request-id");
  EXPECT_EQ(summary_of(server.lines(), id)["level"], "debug");
}

constexpr const char* kMarker = "xyzzyplugh";

/// Requests that say the marker wherever a client can say something.
void say_the_marker(const ServerRig& rig) {
  const std::string hostile = std::string(kMarker) + "\n\r\x1b[2J\"\\ \xc2\x85 \xe2\x80\xa8 " + kMarker;
  const Json chat = {{"max_tokens", 2}, {"messages", {{{"role", "user"}, {"content", hostile}}}}};
  EXPECT_EQ(rig.chat(chat).status, 200);
  Json anthropic = chat;
  EXPECT_EQ(rig.call("POST", "/v1/messages", anthropic).status, 200);
  anthropic["system"] = hostile;
  anthropic["stream"] = true;
  EXPECT_EQ(rig.call("POST", "/v1/messages", anthropic).status, 200);
  EXPECT_EQ(rig.complete({{"prompt", hostile}, {"max_tokens", 2}, {"n", 2}}).status, 200);
  EXPECT_EQ(rig.complete({{"prompt", {hostile, "a"}}, {"max_tokens", 2}, {"stop", {kMarker}}}).status, 200);
  EXPECT_EQ(rig.complete({{"prompt", hostile}, {"max_tokens", kMarker}}).status, 400);
  EXPECT_EQ(rig.complete({{"prompt", hostile}, {kMarker, 1}, {"max_tokens", 1}}).status, 200);
  EXPECT_GE(rig.complete({{"prompt", hostile}, {"grammar", kMarker}}).status, 400);
  RawClient client(rig.port());
  client.send(http_request("POST", "/v1/completions", std::string("{\"prompt\": \"") + kMarker + "\xff\"}"));
  EXPECT_EQ(client.read_response().status, 400);
  EXPECT_EQ(rig.call("POST", "/v1/admission", chat).status, 200);
  EXPECT_EQ(rig.call("POST", "/v1/messages/count_tokens", chat).status, 200);
}

class LogPrompts : public ::testing::TestWithParam<LogFormat> {};

TEST_P(LogPrompts, NoWordOfAClientIsLogged) {
  LoggedServer server(GetParam());
  say_the_marker(server.rig());
  const std::string said = server.text();
  EXPECT_THAT(said, HasSubstr("answered"));
  EXPECT_THAT(said, Not(HasSubstr(kMarker)));
}

TEST_P(LogPrompts, UnlessItIsAskedFor) {
  RigOptions options;
  options.server.log_prompts = true;
  LoggedServer server(GetParam(), options);
  say_the_marker(server.rig());
  std::istringstream said(server.text());
  size_t n_prompts = 0;
  for (std::string line; std::getline(said, line);) {
    if (line.find(kMarker) == std::string::npos) continue;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_THAT(line, HasSubstr("request_id"));
    if (GetParam() == LogFormat::kJson) {
      EXPECT_THAT(Json::parse(line)["prompt"].get<std::string>(), HasSubstr(std::string(kMarker) + "\n\r\x1b[2J\"\\"));
    }
    ++n_prompts;
  }
  EXPECT_GE(n_prompts, 6u);
}

INSTANTIATE_TEST_SUITE_P(Formats, LogPrompts, ::testing::Values(LogFormat::kText, LogFormat::kJson));

std::string value_text(const LogFields& fields, std::string_view name) {
  for (const LogField& field : fields) {
    if (field.name != name) continue;
    if (const auto* number = std::get_if<int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* number = std::get_if<double>(&field.value)) return fmt::format("{}", *number);
  }
  return "";
}

TEST(StatusLine, TellsWhatHappenedBetweenTwoSamples) {
  StatusSample before;
  before.status.n_prompt_tokens = 100;
  before.status.n_cached_tokens = 50;
  before.n_generated = 10;
  StatusSample now = before;
  now.status.n_running = 2;
  now.status.n_queued = 3;
  now.status.n_pages_total = 64;
  now.status.n_pages_free = 20;
  now.status.n_pages_cached = 14;
  now.status.n_prompt_tokens += 80;
  now.status.n_cached_tokens += 60;
  now.n_generated += 30;
  const LogFields fields = status_fields(before, now, std::chrono::seconds(10));
  EXPECT_EQ(value_text(fields, "running"), "2");
  EXPECT_EQ(value_text(fields, "waiting"), "3");
  EXPECT_EQ(value_text(fields, "pages_used"), "30");
  EXPECT_EQ(value_text(fields, "prefix_hit_rate"), "0.75");
  EXPECT_EQ(value_text(fields, "prompt_tokens_per_s"), "2");
  EXPECT_EQ(value_text(fields, "generated_tokens_per_s"), "3");
  EXPECT_EQ(value_text(status_fields(now, now, {}), "prefix_hit_rate"), "") << "nothing was asked";
}

TEST(StatusLine, ComesEachSoManySteps) {
  RigOptions options;
  options.engine.context_length = 1 << 15;
  options.server.status_steps = 5;
  LoggedServer server(LogFormat::kJson, options);
  {
    RawClient client(server.rig().port());
    client.send(http_request("POST", "/v1/completions",
                             R"({"prompt": "Hi", "max_tokens": -1, "ignore_eos": true, "stream": true})"));
    EXPECT_EQ(client.read_head().status, 200);
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  }
  size_t n_lines = 0;
  for (const Json& line : server.lines()) {
    if (line["message"] != "status") continue;
    ++n_lines;
    EXPECT_TRUE(line["running"].is_number_integer());
    EXPECT_GT(line["generated_tokens_per_s"].get<double>(), 0);
  }
  EXPECT_GE(n_lines, 1u);
  EXPECT_LE(n_lines, 4u) << "looks are a second apart";
}

}  // namespace
}  // namespace ferrox
