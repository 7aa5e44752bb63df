// Is /metrics well-formed, does it count what happened, and does the dashboard ask for nothing else?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "server/metrics/exposition.h"
#include "server/metrics/request_metrics.h"
#include "server/server_rig.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;

struct MetricFamily {
  std::string type;
  std::map<std::string, double> samples;  ///< by name and labels, as written
};

/// The family that a sample's name belongs to.
std::string family_of(const std::string& sample, const std::string& family, const std::string& type) {
  if (type != "histogram") return sample;
  for (const char* ending : {"_bucket", "_sum", "_count"}) {
    if (sample == family + ending) return family;
  }
  return sample;
}

/// Accepts the text format in its strictest order: HELP, TYPE, then the family's samples; nothing twice.
std::map<std::string, MetricFamily> read_exposition(const std::string& text) {
  static const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) \S.*)");
  static const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram))");
  static const std::regex sample(
      R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z_]+="(?:[^"\\]|\\.)*"(?:,[a-z_]+="(?:[^"\\]|\\.)*")*\})? (\S+))");
  std::map<std::string, MetricFamily> families;
  std::string helped;
  std::string current;
  std::istringstream lines(text);
  EXPECT_TRUE(text.ends_with("\n"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      helped = match[1];
      EXPECT_FALSE(families.contains(helped)) << line;
    } else if (std::regex_match(line, match, type)) {
      current = match[1];
      EXPECT_EQ(current, helped);
      families[current].type = match[2];
      EXPECT_EQ(current.ends_with("_total"), match[2] == "counter") << line;
    } else if (std::regex_match(line, match, sample)) {
      EXPECT_EQ(family_of(match[1], current, families[current].type), current) << line;
      size_t used = 0;
      const std::string number = match[3];
      const double value = std::stod(number, &used);
      EXPECT_EQ(used, number.size()) << line;
      EXPECT_TRUE(families[current].samples.emplace(match[1].str() + match[2].str(), value).second) << line;
    } else {
      ADD_FAILURE() << "neither comment nor sample: " << line;
    }
  }
  return families;
}

/// Buckets rise, the last is all, and the count says the same.
void expect_histogram(const MetricFamily& family, const std::string& name, const std::string& labels, double n) {
  std::map<double, double> buckets;
  for (const auto& [sample, value] : family.samples) {
    const size_t bound = sample.find("le=\"");
    if (bound == std::string::npos) continue;
    const std::string text = sample.substr(bound + 4);
    buckets[text.starts_with("+Inf") ? std::numeric_limits<double>::infinity() : std::stod(text)] = value;
  }
  double before = 0;
  for (const auto& [bound, value] : buckets) {
    EXPECT_GE(value, before) << name << " at " << bound;
    before = value;
  }
  ASSERT_FALSE(buckets.empty()) << name;
  EXPECT_EQ(buckets.rbegin()->second, n) << name;
  EXPECT_EQ(family.samples.at(name + "_count" + labels), n);
  EXPECT_GE(family.samples.at(name + "_sum" + labels), 0);
}

double value_of(const std::map<std::string, MetricFamily>& families, const std::string& name,
                const std::string& labels = "") {
  return families.at(name).samples.at(name + labels);
}

std::map<std::string, MetricFamily> metrics_of(const ServerRig& rig, std::string_view headers = "") {
  return read_exposition(rig.call("GET", "/metrics", nullptr, headers).body);
}

constexpr const char* kAlice = "Authorization: Bearer alice-key\r\n";

constexpr const char* kRoot = "Authorization: Bearer root-key\r\n";

/// Keys of "alice", of "bob" and of "root", who is an admin.
RigOptions three_callers() {
  RigOptions options;
  for (const char* name : {"alice", "bob", "root"}) {
    ApiKey key;
    key.name = name;
    key.sha256 = digest_of(std::string(name) + "-key");
    key.is_admin = key.name == "root";
    options.server.keys.push_back(key);
  }
  return options;
}

constexpr const char* kDurations[] = {"time_to_first_token_seconds", "inter_token_latency_seconds",
                                      "e2e_request_latency_seconds", "request_queue_time_seconds"};

TEST(Metrics, CountWhatHappened) {
  ServerRig rig;
  for (const char* name : kDurations) {
    const std::string own = std::string("ferrox_") + name;
    expect_histogram(metrics_of(rig).at(own), own, "", 0);
  }
  const Json limited = {{"prompt", "One two three"}, {"max_tokens", 5}, {"temperature", 0}, {"ignore_eos", true}};
  EXPECT_EQ(rig.complete(limited).status, 200);
  EXPECT_EQ(rig.complete(limited).status, 200);
  const Json greeting = Json::array({{{"role", "user"}, {"content", "What is the capital of France?"}}});
  EXPECT_EQ(rig.chat({{"messages", greeting}, {"temperature", 0}}).status, 200);
  const auto families = metrics_of(rig);
  EXPECT_EQ(value_of(families, "ferrox_requests_finished_total", R"({reason="length"})"), 2);
  EXPECT_EQ(value_of(families, "ferrox_requests_finished_total", R"({reason="stop"})"), 1);
  EXPECT_EQ(value_of(families, "ferrox_requests_finished_total", R"({reason="cancelled"})"), 0);
  const double n_tokens = value_of(families, "ferrox_generation_tokens_total");
  EXPECT_GT(n_tokens, 10);
  EXPECT_GT(value_of(families, "ferrox_prompt_tokens_total"), 0);
  EXPECT_GT(value_of(families, "ferrox_prefix_hits_tokens_total"), 0);
  const auto expect = [&](const std::string& name, double n) { expect_histogram(families.at(name), name, "", n); };
  expect("ferrox_time_to_first_token_seconds", 3);
  expect("ferrox_inter_token_latency_seconds", n_tokens - 3);
  expect("ferrox_e2e_request_latency_seconds", 3);
  expect("ferrox_request_queue_time_seconds", 3);
  const EngineStatus status = rig.engine->status();
  EXPECT_EQ(
      value_of(families, "ferrox_cache_config_info",
               fmt::format(R"({{page_size="{}",num_pages="{}"}})", rig.engine->page_rows(), status.n_pages_total)),
      1);
  EXPECT_EQ(value_of(families, "ferrox_kv_usage_ratio"), 0);
  for (const auto& [name, family] : families) EXPECT_TRUE(name.starts_with("ferrox_")) << name;
}

TEST(Metrics, UsageIsAShareWhileSomethingRuns) {
  ServerRig rig;
  testing::RawClient client(rig.port());
  const Json body = {{"prompt", "x"}, {"max_tokens", 3000}, {"ignore_eos", true}, {"stream", true}};
  client.send(testing::http_request("POST", "/v1/completions", dump_json(body)));
  rig.wait_for([](const EngineStatus& status) { return status.n_running == 1; });
  const double usage = value_of(metrics_of(rig), "ferrox_kv_usage_ratio");
  EXPECT_GT(usage, 0);
  EXPECT_LE(usage, 1);
  client.close();
  rig.expect_all_released();
  EXPECT_EQ(value_of(metrics_of(rig), "ferrox_requests_finished_total", R"({reason="cancelled"})"), 1);
  expect_histogram(metrics_of(rig).at("ferrox_e2e_request_latency_seconds"), "ferrox_e2e_request_latency_seconds", "",
                   0);
}

TEST(Metrics, VllmsNamesAreThereWhenAskedFor) {
  RigOptions options;
  options.server.vllm_metrics = true;
  ServerRig rig(options);
  EXPECT_EQ(rig.complete({{"prompt", "One two"}, {"max_tokens", 4}, {"ignore_eos", true}}).status, 200);
  const auto families = metrics_of(rig);
  const std::string common = fmt::format(R"(model_name="{}",engine="0")", rig.engine->model_id());
  const std::string labels = "{" + common + "}";
  for (const char* name : {"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"}) {
    EXPECT_EQ(value_of(families, std::string("vllm:") + name, labels), 0) << name;
    EXPECT_EQ(families.at(std::string("vllm:") + name).type, "gauge");
  }
  EXPECT_GT(value_of(families, "vllm:prefix_cache_queries_total", labels), 0);
  EXPECT_EQ(value_of(families, "vllm:prefix_cache_hits_total", labels), 0);
  EXPECT_EQ(value_of(families, "vllm:num_preemptions_total", labels), 0);
  EXPECT_GT(value_of(families, "vllm:prompt_tokens_total", labels), 0);
  EXPECT_EQ(value_of(families, "vllm:generation_tokens_total", labels), 4);
  EXPECT_EQ(value_of(families, "vllm:request_success_total", "{" + common + R"(,finished_reason="length"})"), 1);
  EXPECT_THAT(families.at("vllm:cache_config_info").samples.begin()->first, HasSubstr("block_size=\""));
  const double counts[] = {1, 3, 1, 1};
  for (size_t i = 0; i < std::size(kDurations); ++i) {
    const std::string name = std::string("vllm:") + kDurations[i];
    expect_histogram(families.at(name), name, labels, counts[i]);
  }
}

TEST(Metrics, ForVllmsReadersParkedRequestsWait) {
  RigOptions options;
  options.server.vllm_metrics = true;
  options.engine.n_parallel = 1;
  ServerRig rig(options);
  Json body = {{"prompt", "x"}, {"max_tokens", 3000}, {"ignore_eos", true}, {"stream", true}, {"priority", 5}};
  testing::RawClient patient(rig.port());
  patient.send(testing::http_request("POST", "/v1/completions", dump_json(body)));
  rig.wait_for([](const EngineStatus& status) { return status.n_running == 1; });
  body["priority"] = 0;
  testing::RawClient urgent(rig.port());
  urgent.send(testing::http_request("POST", "/v1/completions", dump_json(body)));
  rig.wait_for([](const EngineStatus& status) { return status.n_parked == 1; });
  const auto families = metrics_of(rig);
  const std::string labels = fmt::format(R"({{model_name="{}",engine="0"}})", rig.engine->model_id());
  EXPECT_EQ(value_of(families, "vllm:num_requests_waiting", labels), 1);
  EXPECT_EQ(value_of(families, "vllm:num_requests_running", labels), 1);
  EXPECT_EQ(value_of(families, "vllm:num_preemptions_total", labels), 1);
  EXPECT_EQ(value_of(families, "ferrox_num_requests_waiting"), 0);
  EXPECT_EQ(value_of(families, "ferrox_num_requests_parked"), 1);
  patient.close();
  urgent.close();
  rig.wait_for([](const EngineStatus& status) { return status.n_running + status.n_parked == 0; });
}

TEST(Metrics, OnlyRequestsThatLookAreQueriesOfTheCache) {
  ServerRig rig;
  Json body = {{"prompt", "One two three"}, {"max_tokens", 1}, {"cache_prompt", false}};
  EXPECT_EQ(rig.complete(body).status, 200);
  EXPECT_GT(value_of(metrics_of(rig), "ferrox_prompt_tokens_total"), 0);
  EXPECT_EQ(value_of(metrics_of(rig), "ferrox_prefix_queries_tokens_total"), 0);
  body.erase("cache_prompt");
  EXPECT_EQ(rig.complete(body).status, 200);
  const auto families = metrics_of(rig);
  EXPECT_EQ(2 * value_of(families, "ferrox_prefix_queries_tokens_total"),
            value_of(families, "ferrox_prompt_tokens_total"));
}

TEST(Metrics, EachKeyHasCountsOfItsOwn) {
  ServerRig rig(three_callers());
  const Json body = {{"prompt", "One two three"}, {"max_tokens", 4}, {"n", 2}, {"ignore_eos", true}};
  const RawResponse first = rig.call("POST", "/v1/completions", body, kAlice);
  ASSERT_EQ(first.status, 200);
  EXPECT_EQ(rig.call("POST", "/v1/completions", body, kAlice).status, 200);
  EXPECT_EQ(rig.call("POST", "/v1/completions", body, "Authorization: Bearer nobody\r\n").status, 401);
  const Json usage = Json::parse(first.body)["usage"];
  const auto families = metrics_of(rig, kAlice);
  const auto count = [&](const std::string& what, const std::string& caller) {
    return value_of(families, "ferrox_caller_" + what + "_total", "{caller=\"" + caller + "\"}");
  };
  EXPECT_EQ(count("requests", "alice"), 2);
  EXPECT_EQ(count("prompt_tokens", "alice"), 2 * usage["prompt_tokens"].get<double>());
  EXPECT_GT(count("cached_tokens", "alice"), 0) << "of the second request";
  EXPECT_LT(count("cached_tokens", "alice"), usage["prompt_tokens"].get<double>()) << "not of both choices";
  EXPECT_EQ(count("completion_tokens", "alice"), 16);
  const auto all = metrics_of(rig, kRoot);
  for (const char* what : {"requests", "prompt_tokens", "cached_tokens", "completion_tokens"}) {
    const std::string name = "ferrox_caller_" + std::string(what) + "_total";
    EXPECT_EQ(families.at(name).samples.size(), 1u) << "nothing of others";
    EXPECT_EQ(all.at(name).samples.size(), 3u) << "keys alone";
    EXPECT_EQ(value_of(all, name, "{caller=\"bob\"}"), 0);
    EXPECT_EQ(value_of(all, name, "{caller=\"alice\"}"), count(what, "alice"));
  }
}

TEST(Metrics, TimesCountFromTheArrivalOfTheRequest) {
  const auto metrics = std::make_shared<RequestMetrics>();
  const auto arrival = std::chrono::steady_clock::now() - std::chrono::seconds(100);
  const EventSink sink = metrics->follow(arrival, [](const Event&) {});
  sink(TokenEvent{});
  sink(DoneEvent{.reason = FinishReason::kStop, .text = "", .matched_stop = {}, .stop_token = {}, .usage = {}});
  EXPECT_GE(metrics->time_to_first_token.snapshot().sum_s, 100);
  EXPECT_GE(metrics->end_to_end.snapshot().sum_s, 100);
}

TEST(Metrics, ToldEventsAndSpansAreThereWhereTheyAreOn) {
  EXPECT_FALSE(metrics_of(testing::shared_server()).contains("ferrox_kv_events_total"));
  RigOptions options;
  KvEventPublisherOptions events;
  events.endpoint = "tcp://127.0.0.1:*";
  options.server.kv_events = *KvEventPublisher::open(events);
  options.engine.prefix_observer = options.server.kv_events;
  ServerRig rig(options);
  const double n_before = value_of(metrics_of(rig), "ferrox_kv_events_total");
  const std::string prompt = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen";
  EXPECT_EQ(rig.complete({{"prompt", prompt}, {"max_tokens", 40}, {"ignore_eos", true}}).status, 200);
  EXPECT_GT(value_of(metrics_of(rig), "ferrox_kv_events_total"), n_before);
  EXPECT_EQ(value_of(metrics_of(rig), "ferrox_kv_events_dropped_total"), 0);
}

TEST(Metrics, TheDashboardAsksForNothingElse) {
  std::ostringstream file;
  file << std::ifstream(FERROX_SOURCE_DIR "/ops/grafana-dashboard.json").rdbuf();
  const std::string text = file.str();
  ASSERT_TRUE(parse_json(text));
  ServerRig rig(three_callers());  // without keys nothing is told by key
  const auto families = metrics_of(rig, kAlice);
  std::set<std::string> exposed;
  for (const auto& [name, family] : families) {
    for (const auto& [sample, value] : family.samples) exposed.insert(sample.substr(0, sample.find('{')));
  }
  const std::regex metric("ferrox_[a-z0-9_]+");
  size_t n_found = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), metric), end; found != end; ++found, ++n_found) {
    EXPECT_TRUE(exposed.contains(found->str())) << found->str();
  }
  EXPECT_GT(n_found, 20u);
}

TEST(Exposition, LabelsAreEscaped) {
  const MetricLabels labels = {{"model_name", std::string("a\"b\\c\nd")}};
  Exposition page(labels);
  page.gauge("x", "y", 1.5);
  EXPECT_EQ(page.text(), "# HELP x y\n# TYPE x gauge\nx{model_name=\"a\\\"b\\\\c\\nd\"} 1.5\n");
}

TEST(Histogram, ABoundBelongsToItsBucket) {
  constexpr double kBounds[] = {1, 2};
  Histogram histogram(kBounds);
  for (const double seconds : {0.5, 1.0, 1.5, 2.0, 7.0}) histogram.observe(seconds);
  EXPECT_EQ(histogram.snapshot().counts, (std::vector<uint64_t>{2, 2, 1}));
  EXPECT_DOUBLE_EQ(histogram.snapshot().sum_s, 12);
}

}  // namespace
}  // namespace ferrox
