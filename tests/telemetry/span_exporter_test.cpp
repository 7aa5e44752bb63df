// Does a collector get every span in OTLP's JSON, and does nobody wait for one that is slow or gone?
#include "telemetry/span_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "telemetry/fake_collector.h"
#include "telemetry/otlp_json.h"
#include "telemetry/otlp_schema.h"
#include "telemetry/trace_context.h"

namespace ferrox {
namespace {

using namespace std::chrono_literals;
using testing::attribute_of;
using testing::checked_spans;
using testing::FakeCollector;

Span some_span(std::string name = "work") {
  Span span;
  span.trace_id = new_trace_id();
  span.span_id = new_span_id();
  span.name = std::move(name);
  span.start = std::chrono::system_clock::now().time_since_epoch();
  span.end = span.start + 5ms;
  return span;
}

std::vector<Span> some_spans(size_t n) {
  std::vector<Span> spans;
  while (spans.size() < n) spans.push_back(some_span());
  return spans;
}

SpanExporterOptions quick(const std::string& url) {
  SpanExporterOptions options;
  options.url = url + "/v1/traces";
  options.service = {{"service.name", std::string("ferrox")}};
  options.gather = 1ms;
  options.retry = 1ms;
  options.last_flush = 300ms;
  return options;
}

/// A port at which nobody listens.
std::string dead_url() {
  FakeCollector gone;
  return gone.url();
}

template <class Holds>
bool eventually(Holds holds) {
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!holds() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  return holds();
}

TEST(OtlpJson, EveryKindOfValueIsWrittenAsTheMappingSays) {
  Span span = some_span("\xff name");
  span.parent_id = new_span_id();
  span.trace_state = "a=1";
  span.kind = SpanKind::kServer;
  span.is_error = true;
  span.attributes = {{"text", std::string("a\nb")},
                     {"number", int64_t{1} << 60},
                     {"real", 0.5},
                     {"flag", true},
                     {"list", std::vector<std::string>{"stop", "length"}}};
  const auto spans = checked_spans(otlp_json(std::vector<Span>{span}, {}));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0]["traceId"], span.trace_id);
  EXPECT_EQ(spans[0]["parentSpanId"], span.parent_id);
  EXPECT_EQ(spans[0]["traceState"], "a=1");
  EXPECT_EQ(spans[0]["kind"], 2);
  EXPECT_EQ(spans[0]["status"]["code"], 2);
  EXPECT_EQ(spans[0]["name"], "\xef\xbf\xbd name");
  EXPECT_EQ(attribute_of(spans[0], "number"), "1152921504606846976");
  EXPECT_EQ(attribute_of(spans[0], "real"), 0.5);
  EXPECT_EQ(attribute_of(spans[0], "list")["values"][1]["stringValue"], "length");
}

TEST(SpanExporter, ACollectorGetsWhatWasAdded) {
  FakeCollector collector;
  SpanExporterOptions options = quick(collector.url());
  options.headers = {"authorization: Bearer s"};
  const auto exporter = *SpanExporter::open(options);
  exporter->add({some_span("one"), some_span("two")});
  const auto posts = collector.wait_for(1);
  ASSERT_EQ(posts.size(), 1u);
  EXPECT_EQ(posts[0].target, "/v1/traces");
  EXPECT_EQ(posts[0].content_type, "application/json");
  EXPECT_EQ(posts[0].authorization, "Bearer s");
  const auto spans = checked_spans(posts[0].body);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[1]["name"], "two");
  EXPECT_TRUE(eventually([&] { return exporter->stats().n_sent == 2; }));
}

TEST(SpanExporter, PostsAreOfALimitedSize) {
  FakeCollector collector;
  SpanExporterOptions options = quick(collector.url());
  options.most_sent = 10;
  const auto exporter = *SpanExporter::open(options);
  exporter->add(some_spans(25));
  size_t n_spans = 0;
  for (const auto& post : collector.wait_for(3)) n_spans += checked_spans(post.body).size();
  EXPECT_EQ(n_spans, 25u);
}

TEST(SpanExporter, WhatIsQueuedAtTheEndIsSent) {
  FakeCollector collector;
  SpanExporterOptions options = quick(collector.url());
  options.gather = 1h;
  (*SpanExporter::open(options))->add({some_span()});
  EXPECT_EQ(collector.wait_for(1).size(), 1u);
}

TEST(SpanExporter, ABusyCollectorIsAskedAgain) {
  FakeCollector collector;
  collector.answer_with({503, 429});
  const auto exporter = *SpanExporter::open(quick(collector.url()));
  exporter->add({some_span()});
  EXPECT_TRUE(eventually([&] { return exporter->stats().n_sent == 1; }));
  EXPECT_EQ(collector.wait_for(3).size(), 3u);
}

TEST(SpanExporter, ARefusalIsFinal) {
  FakeCollector collector;
  collector.answer_with({400});
  const auto exporter = *SpanExporter::open(quick(collector.url()));
  exporter->add({some_span()});
  EXPECT_TRUE(eventually([&] { return exporter->stats().n_dropped == 1; }));
  EXPECT_EQ(collector.wait_for(1).size(), 1u);
}

TEST(SpanExporter, ADeadCollectorIsWarnedOfOnce) {
  log().set_level(spdlog::level::warn);
  ::testing::internal::CaptureStderr();
  {
    const auto exporter = *SpanExporter::open(quick(dead_url()));
    for (uint64_t i = 1; i <= 3; ++i) {
      exporter->add({some_span()});
      EXPECT_TRUE(eventually([&] { return exporter->stats().n_dropped == i; }));
    }
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST(SpanExporter, AWarningHasNoSecretsOfTheUrl) {
  log().set_level(spdlog::level::warn);
  const std::string url = dead_url();
  const std::string host = url.substr(url.find("://") + 3);
  ::testing::internal::CaptureStderr();
  {
    SpanExporterOptions options = quick("");
    options.url = "http://user:password@" + host + "/v1/traces?key=hidden#part";
    const auto exporter = *SpanExporter::open(options);
    exporter->add({some_span()});
    EXPECT_TRUE(eventually([&] { return exporter->stats().n_dropped == 1; }));
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, ::testing::HasSubstr("http://" + host + "/v1/traces: "));
  for (const char* secret : {"user", "pass", "word", "hidden", "part"}) {
    EXPECT_EQ(said.find(secret), std::string::npos) << said;
  }
}

TEST(SpanExporter, ASlowCollectorStopsNobody) {
  FakeCollector collector;
  collector.hang();
  SpanExporterOptions options = quick(collector.url());
  options.most_queued = 100;
  options.most_sent = 10;
  auto exporter = *SpanExporter::open(options);
  exporter->add({some_span()});
  collector.wait_for(1);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) exporter->add({some_span()});
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_EQ(exporter->stats().n_dropped, 900u) << "what found no room is counted";
  exporter.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s) << "the end waits for a limited time";
}

TEST(SpanExporter, OnlyHttpIsSpoken) {
  SpanExporterOptions options;
  options.url = "grpc://127.0.0.1:4317";
  const auto opened = SpanExporter::open(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(opened.error().message, ::testing::HasSubstr("grpc://127.0.0.1:4317"));
}

}  // namespace
}  // namespace ferrox
