// Does work stop when its client is gone, in whatever state it is, without touching others?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/server_rig.h"

namespace ferrox {
namespace {

using testing::Farewell;
using ::testing::HasSubstr;
using testing::http_request;
using testing::RawClient;
using testing::RawResponse;
using testing::read_sse;
using testing::RigOptions;
using testing::ServerRig;

/// An answer that outlasts every test: as long as the context, which `roomy` makes huge.
std::string endless(bool stream, const std::string& prompt = "Once upon a time") {
  return http_request("POST", "/v1/completions",
                      dump_json({{"prompt", prompt}, {"max_tokens", -1}, {"ignore_eos", true}, {"stream", stream}}));
}

std::string long_prompt() {
  std::string text;
  for (int i = 0; i < 2500; ++i) text += "a ";
  return text;
}

RigOptions roomy() {
  RigOptions options;
  options.engine.context_length = 1 << 17;
  return options;
}

RigOptions one_at_a_time() {
  RigOptions options = roomy();
  options.engine.n_parallel = 1;
  options.engine.batch_rows = 16;
  return options;
}

enum class State { kQueued, kPrefill, kDecode };
enum class Delivery { kWhole, kStreamed };

class GoneClient : public ::testing::TestWithParam<std::tuple<State, Delivery, Farewell>> {};

TEST_P(GoneClient, FreesEverything) {
  const auto [state, delivery, farewell] = GetParam();
  const bool stream = delivery == Delivery::kStreamed;
  ServerRig rig(one_at_a_time());
  RawClient blocker(rig.port());
  if (state == State::kQueued) {
    blocker.send(endless(true));
    rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  }
  RawClient client(rig.port());
  client.send(endless(stream, state == State::kPrefill ? long_prompt() : "Once"));
  switch (state) {
    case State::kQueued:
      rig.wait_for([](const EngineStatus& s) { return s.n_queued == 1; });
      break;
    case State::kPrefill:
      rig.wait_for([](const EngineStatus& s) { return s.n_steps > 0; });
      break;
    case State::kDecode:
      rig.wait_for([](const EngineStatus& s) { return s.n_steps > 5; });
      break;
  }
  client.leave(farewell);
  if (state == State::kQueued) {
    rig.wait_for([](const EngineStatus& s) { return s.n_queued == 0; });
    EXPECT_EQ(rig.engine->status().n_running, 1) << "the other request must go on";
    EXPECT_THAT(blocker.read_until("data: {"), HasSubstr("200 OK"));
    blocker.close();
  }
  rig.expect_all_released();
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"max_tokens", 1}}).status, 200);
}

INSTANTIATE_TEST_SUITE_P(All, GoneClient,
                         ::testing::Combine(::testing::Values(State::kQueued, State::kPrefill, State::kDecode),
                                            ::testing::Values(Delivery::kWhole, Delivery::kStreamed),
                                            ::testing::Values(Farewell::kClose, Farewell::kHalfClose,
                                                              Farewell::kReset)));

TEST(Cancellation, AHalfClosedClientIsToldWhy) {
  ServerRig rig(one_at_a_time());
  RawClient client(rig.port());
  client.send(endless(false));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  client.half_close();
  const RawResponse response = client.read_response();
  EXPECT_EQ(response.status, 499);
  EXPECT_THAT(response.body, HasSubstr("client_closed_request"));
}

// D6: stopping doesn't need the connection, which a proxy may keep.
TEST(Cancellation, ByIdKeepsTheTextSoFar) {
  ServerRig rig(one_at_a_time());
  RawClient client(rig.port());
  client.send(endless(true));
  const RawResponse head = client.read_head();
  std::string text = client.read_chunk();
  EXPECT_EQ(rig.call("POST", "/v1/cancel", {{"id", "cmpl-" + head.headers.at("x-request-id")}}).status, 200);
  for (std::string chunk = text; !chunk.empty();) {
    chunk = client.read_chunk();
    text += chunk;
  }
  const auto events = read_sse(text);
  EXPECT_TRUE(events.done);
  EXPECT_EQ(events.data.back()["choices"][0]["finish_reason"], "cancelled");
  rig.expect_all_released();
}

// D8: a line that says nothing for a minute is cut by proxies.
TEST(Cancellation, AQueuedStreamIsKeptAliveByComments) {
  RigOptions options = one_at_a_time();
  options.server.first_event_wait = std::chrono::milliseconds(20);
  options.server.keepalive_interval = std::chrono::milliseconds(20);
  ServerRig rig(options);
  RawClient blocker(rig.port());
  blocker.send(endless(true));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  RawClient waiting(rig.port());
  waiting.send(endless(true));
  EXPECT_EQ(waiting.read_head().status, 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(waiting.read_chunk(), ": waiting\n\n");
  blocker.close();
  EXPECT_THAT(waiting.read_until("\"text\""), HasSubstr("data: "));
}

TEST(Cancellation, ASlowReaderIsCutOffAndDisturbsNobody) {
  RigOptions options = roomy();
  options.server.limits.max_stream_backlog_bytes = 2000;
  options.server.limits.send_buffer_bytes = 2048;
  ServerRig rig(options);
  RawClient slow(rig.port(), 2048);
  slow.send(endless(true));
  rig.wait_for([](const EngineStatus& s) { return s.n_steps > 0; });
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"max_tokens", 5}}).status, 200);
  rig.expect_all_released();
  std::string all = slow.read_until("[DONE]");
  EXPECT_THAT(all, ::testing::Not(HasSubstr("[DONE]")));
}

TEST(Cancellation, AnAnswerWithMoreEventsThanMayWaitEndsWholly) {
  RigOptions options = roomy();
  options.server.limits.max_stream_backlog_bytes = 1;
  ApiKey key = unlimited_key("a-key");
  key.max_requests = 1;
  options.server.keys = {key};
  ServerRig rig(options);
  const std::string one = dump_json({{"prompt", "x"}, {"max_tokens", 200}, {"ignore_eos", true}});
  for (int i = 0; i < 3; ++i) {
    int status = 429;
    while (status == 429) {  // until what its quota has open is closed
      RawClient client(rig.port());
      client.send(http_request("POST", "/v1/completions", one, "x-api-key: a-key\r\n"));
      status = client.read_response().status;
    }
    EXPECT_EQ(status, 0);
  }
  rig.expect_all_released();
  rig.stop();  // ends
}

TEST(Cancellation, ASlowReaderOfFewBytesIsCutOffByTime) {
  RigOptions options = roomy();
  options.server.limits.max_stream_backlog_bytes = size_t{1} << 40;
  options.server.limits.send_buffer_bytes = 2048;
  options.server.limits.write_timeout = std::chrono::milliseconds(200);
  ServerRig rig(options);
  RawClient slow(rig.port(), 2048);
  slow.send(endless(true));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"max_tokens", 5}}).status, 200);
  rig.expect_all_released();
  EXPECT_THAT(slow.read_until("[DONE]"), ::testing::Not(HasSubstr("[DONE]")));
}

TEST(Cancellation, AReaderThatPausesWithinItsLimitsMissesNothingAndNobodyWaitsForIt) {
  RigOptions options = roomy();
  options.server.limits.send_buffer_bytes = 2048;
  options.server.limits.write_timeout = std::chrono::minutes(10);
  ServerRig rig(options);
  RawClient pausing(rig.port(), 2048);
  Json body = {{"prompt", "Once"}, {"max_tokens", 150}, {"ignore_eos", true}, {"seed", 1}, {"logprobs", 5}};
  const Json whole = Json::parse(rig.complete(body).body);
  const uint64_t n_steps = rig.engine->status().n_steps;
  body["stream"] = true;
  pausing.send(http_request("POST", "/v1/completions", dump_json(body)));
  rig.wait_for([n_steps](const EngineStatus& s) { return s.n_steps > n_steps; });
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"max_tokens", 5}}).status, 200);
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 0; });
  const auto events = read_sse(pausing.read_response().body);
  EXPECT_TRUE(events.done);
  std::string text;
  for (const Json& event : events.data) text += event["choices"][0]["text"].get<std::string>();
  EXPECT_EQ(text, whole["choices"][0]["text"]);
}

TEST(Cancellation, AFullQueueIsRefusedWithATimeToComeBack) {
  RigOptions options = one_at_a_time();
  options.engine.max_queue = 2;
  ServerRig rig(options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(rig.port()));
    clients.back()->send(endless(true));
    rig.wait_for([i](const EngineStatus& s) { return s.n_running + s.n_queued == i + 1 && s.n_running == 1; });
  }
  const RawResponse refused = rig.complete({{"prompt", "x"}});
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(Json::parse(refused.body)["error"]["code"], "queue_full");
  EXPECT_GE(std::stoi(refused.headers.at("retry-after")), 1);
  clients.clear();
  rig.expect_all_released();
}

// A11: more clients than slots; when they have gone the server answers as before.
TEST(Cancellation, HundredsOfClientsComeAndGo) {
  ServerRig rig(roomy());
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 60; ++i) {
      clients.push_back(std::make_unique<RawClient>(rig.port()));
      clients.back()->send(endless(i % 2 == 0));
    }
    rig.wait_for([](const EngineStatus& s) { return s.n_running > 0; });
    if (round == 1) {
      for (auto& client : clients) client->reset();
    }
  }
  rig.expect_all_released();
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"max_tokens", 1}}).status, 200);
}

TEST(Drain, RunningRequestsFinishAndNewOnesAreRefused) {
  RigOptions options = one_at_a_time();
  options.server.drain_timeout = std::chrono::minutes(10);  // a slow machine is no reason to be cancelled here
  ServerRig rig(options);
  RawClient running(rig.port());
  running.send(http_request("POST", "/v1/completions",
                            dump_json({{"prompt", "Once"}, {"max_tokens", 400}, {"ignore_eos", true}})));
  rig.wait_for([](const EngineStatus& s) { return s.n_steps > 0; });
  rig.server->stop();
  const RawResponse response = running.read_response();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(Json::parse(response.body)["usage"]["completion_tokens"], 400);
  rig.thread.join();
}

TEST(Drain, NewConnectionsAreToldToComeBack) {
  RigOptions options = one_at_a_time();
  options.server.drain_timeout = std::chrono::minutes(10);
  ServerRig rig(options);
  RawClient running(rig.port());
  running.send(endless(true));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  RawClient used(rig.port());
  used.send(http_request("GET", "/health"));
  EXPECT_EQ(used.read_response().status, 200);
  RawClient opened(rig.port());
  rig.server->stop();
  EXPECT_TRUE(used.at_end()) << "a connection between two requests is closed";
  const Json body = {{"prompt", "x"}, {"max_tokens", 1}};
  opened.send(http_request("POST", "/v1/completions", dump_json(body)));
  for (const RawResponse& refused : {opened.read_response(), rig.complete(body), rig.call("GET", "/health")}) {
    EXPECT_EQ(refused.status, 503);
    EXPECT_THAT(refused.body, HasSubstr("draining"));
    EXPECT_TRUE(refused.headers.contains("retry-after"));
    EXPECT_EQ(refused.headers.at("connection"), "close");
  }
  EXPECT_TRUE(opened.at_end());
  running.close();
  rig.thread.join();
}

TEST(Drain, WhatDoesntFinishIsCancelledAtTheLimit) {
  RigOptions options = one_at_a_time();
  options.server.drain_timeout = std::chrono::milliseconds(50);
  ServerRig rig(options);
  RawClient client(rig.port());
  client.send(endless(true));
  rig.wait_for([](const EngineStatus& s) { return s.n_running == 1; });
  rig.stop();
  EXPECT_THAT(client.read_until("[DONE]"), HasSubstr("\"cancelled\""));
  rig.expect_all_released();
}

TEST(Drain, AnIdleServerStopsAtOnce) {
  ServerRig rig;
  RawClient idle(rig.port());
  idle.send(http_request("GET", "/health"));
  EXPECT_EQ(idle.read_response().status, 200);
  rig.stop();
  EXPECT_TRUE(idle.at_end());
}

}  // namespace
}  // namespace ferrox
