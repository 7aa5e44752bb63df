// Is every request a span with its phases below it, in the trace that its client began?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/server_rig.h"
#include "telemetry/fake_collector.h"
#include "telemetry/otlp_schema.h"

namespace ferrox {
namespace {

using namespace std::chrono_literals;
using testing::attribute_of;
using testing::FakeCollector;
using testing::http_request;
using testing::OtlpBody;
using testing::RawClient;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;

constexpr const char* kParent = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";

RigOptions traced_to(const std::string& url) {
  SpanExporterOptions options;
  options.url = url + "/v1/traces";
  options.service = {{"service.name", std::string("ferrox")}};
  options.gather = 1ms;
  options.retry = 1ms;
  RigOptions rig;
  rig.engine.context_length = 1 << 15;
  rig.server.traces = *SpanExporter::open(options);
  return rig;
}

/// Waits until the collector has the request's own span; all spans of its trace.
std::vector<OtlpBody> spans_of(FakeCollector& collector, const std::string& request_id) {
  for (size_t n_posts = 1;; ++n_posts) {
    const auto posts = collector.wait_for(n_posts);
    std::vector<OtlpBody> all;
    OtlpBody own;
    for (const auto& post : posts) {
      for (const OtlpBody& span : testing::checked_spans(post.body)) {
        all.push_back(span);
        if (attribute_of(span, "ferrox.request_id") == request_id) own = span;
      }
    }
    if (!own.is_null()) {
      std::erase_if(all, [&](const OtlpBody& span) { return span["traceId"] != own["traceId"]; });
      return all;
    }
    if (posts.size() < n_posts) return {};
  }
}

OtlpBody span_named(const std::vector<OtlpBody>& spans, const std::string& name) {
  for (const OtlpBody& span : spans) {
    if (span["name"] == name) return span;
  }
  ADD_FAILURE() << "no span named " << name;
  return nullptr;
}

uint64_t ns(const OtlpBody& span, const char* end) { return std::stoull(span[end].get<std::string>()); }

TEST(Tracing, ARequestIsASpanWithItsPhases) {
  FakeCollector collector;
  ServerRig rig(traced_to(collector.url()));
  const RawResponse answer =
      rig.chat({{"messages", {{{"role", "user"}, {"content", "xyzzy"}}}}, {"max_tokens", 4}, {"ignore_eos", true}});
  const Json usage = Json::parse(answer.body)["usage"];
  const auto spans = spans_of(collector, answer.headers.at("x-request-id"));
  ASSERT_EQ(spans.size(), 4u);
  const OtlpBody whole = span_named(spans, "POST /v1/chat/completions");
  EXPECT_FALSE(whole.contains("parentSpanId"));
  EXPECT_EQ(whole["kind"], 2);
  EXPECT_EQ(attribute_of(whole, "http.route"), "/v1/chat/completions");
  EXPECT_EQ(attribute_of(whole, "http.response.status_code"), "200");
  EXPECT_EQ(attribute_of(whole, "gen_ai.operation.name"), "chat");
  EXPECT_EQ(attribute_of(whole, "gen_ai.request.model"), rig.engine->model_id());
  EXPECT_EQ(attribute_of(whole, "gen_ai.usage.input_tokens"), usage["prompt_tokens"].dump());
  EXPECT_EQ(attribute_of(whole, "gen_ai.usage.output_tokens"), "4");
  EXPECT_EQ(attribute_of(whole, "gen_ai.response.finish_reasons")["values"][0]["stringValue"], "length");
  uint64_t end = ns(whole, "startTimeUnixNano");
  for (const char* phase : {"queue", "prefill", "decode"}) {
    const OtlpBody span = span_named(spans, phase);
    EXPECT_EQ(span["parentSpanId"], whole["spanId"]);
    EXPECT_GE(ns(span, "startTimeUnixNano"), end) << "one after another";
    end = ns(span, "endTimeUnixNano");
  }
  EXPECT_LE(end, ns(whole, "endTimeUnixNano"));
  const double ttft_ns = attribute_of(whole, "gen_ai.latency.time_to_first_token").get<double>() * 1e9;
  const uint64_t prompt_done = ns(span_named(spans, "prefill"), "endTimeUnixNano");
  EXPECT_GE(ttft_ns + 1, double(prompt_done - ns(whole, "startTimeUnixNano"))) << "from arrival, parsing included";
  const auto posts = collector.wait_for(1);
  for (const auto& post : posts) EXPECT_EQ(post.body.find("xyzzy"), std::string::npos) << "no word of a prompt";
}

TEST(Tracing, TheClientsTraceGoesOn) {
  FakeCollector collector;
  ServerRig rig(traced_to(collector.url()));
  const std::string headers = std::string(kParent) + "tracestate: vendor=1\r\n";
  const RawResponse answer = rig.call("POST", "/v1/completions", {{"prompt", "a"}, {"max_tokens", 1}}, headers);
  const auto spans = spans_of(collector, answer.headers.at("x-request-id"));
  const OtlpBody whole = span_named(spans, "POST /v1/completions");
  EXPECT_EQ(whole["traceId"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(whole["parentSpanId"], "b7ad6b7169203331");
  EXPECT_EQ(whole["traceState"], "vendor=1");
}

TEST(Tracing, AMalformedParentBeginsATraceOfItsOwn) {
  FakeCollector collector;
  ServerRig rig(traced_to(collector.url()));
  for (const std::string& headers : {std::string("traceparent: 00-nonsense\r\n"), std::string(kParent) + kParent}) {
    const RawResponse answer = rig.call("GET", "/v1/models", nullptr, headers);
    EXPECT_EQ(answer.status, 200);
    const auto spans = spans_of(collector, answer.headers.at("x-request-id"));
    ASSERT_EQ(spans.size(), 1u);
    EXPECT_FALSE(spans[0].contains("parentSpanId"));
  }
}

TEST(Tracing, WhatTheClientDoesntRecordIsntSent) {
  FakeCollector collector;
  const RigOptions options = traced_to(collector.url());
  {
    ServerRig rig(options);
    rig.call("GET", "/v1/models", nullptr, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n");
    rig.call("GET", "/health");
  }
  EXPECT_EQ(options.server.traces->stats().n_sent + options.server.traces->stats().n_dropped, 0u);
}

TEST(Tracing, ARefusalIsASpanAlone) {
  FakeCollector collector;
  ServerRig rig(traced_to(collector.url()));
  const RawResponse answer = rig.complete({{"prompt", 7}});
  const auto spans = spans_of(collector, answer.headers.at("x-request-id"));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(attribute_of(spans[0], "error.type"), "invalid_request_error");
  EXPECT_EQ(attribute_of(spans[0], "http.response.status_code"), "400");
}

TEST(Tracing, AClientThatLeavesHasItsPhasesToo) {
  FakeCollector collector;
  ServerRig rig(traced_to(collector.url()));
  std::string id;
  {
    RawClient client(rig.port());
    client.send(http_request("POST", "/v1/completions",
                             R"({"prompt": "Hi", "max_tokens": -1, "ignore_eos": true, "stream": true})"));
    id = client.read_head().headers.at("x-request-id");
    client.read_chunk();
  }
  const auto spans = spans_of(collector, id);
  ASSERT_EQ(spans.size(), 4u);
  const OtlpBody whole = span_named(spans, "POST /v1/completions");
  EXPECT_EQ(attribute_of(whole, "gen_ai.response.finish_reasons")["values"][0]["stringValue"], "cancelled");
  span_named(spans, "decode");
}

TEST(Tracing, ADeadCollectorIsNobodysTrouble) {
  std::string url;
  {
    const FakeCollector gone;
    url = gone.url();
  }
  ServerRig rig(traced_to(url));
  log().set_level(spdlog::level::off);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(rig.call("GET", "/v1/models").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
  const auto dropped = [&] {
    const std::string page = rig.call("GET", "/metrics").body;
    const size_t at = page.find("\nferrox_trace_spans_dropped_total ");
    EXPECT_NE(at, std::string::npos);
    return std::stoi(page.substr(page.find(' ', at) + 1));
  };
  const auto deadline = start + 60s;
  while (dropped() < 20 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(dropped(), 20);
  log().set_level(spdlog::level::warn);
}

}  // namespace
}  // namespace ferrox
