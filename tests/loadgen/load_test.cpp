// Does a load end with every request counted, whatever the server does?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <csignal>

#include "loadgen/fake_server.h"
#include "loadgen/figures.h"
#include "loadgen/load.h"

namespace ferrox {
namespace {

using testing::Afterwards;
using testing::FakeServer;
using testing::good_answer;
using ::testing::HasSubstr;
using testing::kStreamHead;
using testing::Script;
using testing::text_event;

constexpr size_t kRequests = 12;

LoadOptions load_of(const FakeServer& server) {
  LoadOptions options;
  options.url = {"127.0.0.1", server.port(), ""};
  options.body.endpoint = EndpointKind::kCompletions;
  options.concurrency = 3;
  return options;
}

ScenarioOptions few_requests(ScenarioKind kind = ScenarioKind::kDistinct) {
  ScenarioOptions scenario;
  scenario.kind = kind;
  scenario.n_requests = kRequests;
  scenario.prompt_words = {3, 5};
  scenario.output_tokens = 8;
  scenario.n_turns = 3;
  return scenario;
}

std::vector<RequestRecord> records_of(const LoadOptions& options, const ScenarioOptions& scenario) {
  const auto result = run_load(options, Scenario(scenario));
  EXPECT_TRUE(result);
  return result ? result->records : std::vector<RequestRecord>();
}

std::vector<RequestRecord> records_against(const Script& script) {
  FakeServer server([&](const std::string&) { return script; });
  return records_of(load_of(server), few_requests());
}

void expect_all(const std::vector<RequestRecord>& records, Outcome outcome, const std::string& error) {
  ASSERT_EQ(records.size(), kRequests);
  for (const auto& record : records) {
    EXPECT_STREQ(outcome_name(record.outcome), outcome_name(outcome));
    EXPECT_THAT(record.error, HasSubstr(error));
    EXPECT_GE(record.end_ms, record.sent_ms);
  }
}

TEST(Load, GoodAnswersAreRecorded) {
  const auto records = records_against({good_answer()});
  expect_all(records, Outcome::kOk, "");
  for (const auto& record : records) {
    EXPECT_EQ(record.prompt_tokens, 10);
    EXPECT_EQ(record.output_tokens(), 2);
    EXPECT_EQ(record.cached_tokens, 4);
    EXPECT_EQ(record.token_ms.size(), 2u);
  }
}

TEST(Load, ARefusalIsCountedByItsStatus) {
  const auto records = records_against(
      {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 34\r\n\r\n{\"error\":{\"message\":\"queue full\"}}\n"});
  expect_all(records, Outcome::kRefused, "status 503: queue full");
  EXPECT_EQ(figures_of(records, {}).n_statuses.at(503), kRequests);
}

TEST(Load, ARefusalWhoseBodyBreaksOffIsOne) {
  expect_all(records_against({"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 1000\r\n\r\nslow"}), Outcome::kRefused,
             "status 429");
}

TEST(Load, ADamagedAnswerIsAFailureWithItsReason) {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", "head of the answer: expected more, found the connection closed"},
      {"\x01\x02 no http at all\r\n\r\n", "head of the answer: "},
      {"HTTP/1.1 200 OK\r\nContent-Ty", "head of the answer: expected more"},
      {kStreamHead + text_event("one"), "answer: expected data: [DONE] at its end"},
      {chunked + "5\r\ndata:", "answer: expected more, found the connection closed"},
      {chunked + "zz\r\ndata:", "answer: "},
      {kStreamHead + std::string("data: {\"choices\": [\n\n"), "event of the stream: expected a JSON object"},
      {kStreamHead + std::string(100'000, 'x'), "answer: expected data: [DONE] at its end"},
      {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
       "content-type: expected text/event-stream, found application/json"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\nx", "head of the answer: "},
  };
  for (const auto& [bytes, reason] : cases) {
    SCOPED_TRACE(bytes.substr(0, 60));
    expect_all(records_against({bytes}), Outcome::kFailed, reason);
  }
}

TEST(Load, AnAnswerIsOverAtItsLastEventThoughTheConnectionStays) {
  expect_all(records_against({good_answer(), Afterwards::kKeepOpen}), Outcome::kOk, "");
}

/// A place's requests follow one another over one connection, answered or refused.
TEST(Load, AConnectionCarriesOneRequestAfterTheOther) {
  const std::string refused = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}";
  for (const std::string& answer : {testing::in_chunks(good_answer()), refused}) {
    FakeServer server([&](const std::string&) { return Script{answer, Afterwards::kNextRequest}; });
    LoadOptions options = load_of(server);
    options.concurrency = 1;
    const auto records = records_of(options, few_requests());
    expect_all(records, answer == refused ? Outcome::kRefused : Outcome::kOk, "");
    EXPECT_EQ(server.n_connections(), 1);
    for (const std::string& request : server.requests())
      EXPECT_THAT(request, ::testing::Not(HasSubstr("Connection: close")));
  }
}

TEST(Load, AConnectionOfItsOwnIsAskedFor) {
  FakeServer server([](const std::string&) { return Script{testing::in_chunks(good_answer()), Afterwards::kClose}; });
  LoadOptions options = load_of(server);
  options.connections = ConnectionUse::kOnce;
  expect_all(records_of(options, few_requests()), Outcome::kOk, "");
  EXPECT_EQ(server.n_connections(), static_cast<int>(kRequests));
  for (const std::string& request : server.requests()) EXPECT_THAT(request, HasSubstr("Connection: close"));
}

TEST(Load, AConnectionThatTheServerEndedMeanwhileIsNoFailure) {
  FakeServer server([](const std::string&) { return Script{testing::in_chunks(good_answer()), Afterwards::kClose}; });
  LoadOptions options = load_of(server);
  options.concurrency = 1;
  expect_all(records_of(options, few_requests()), Outcome::kOk, "");
  EXPECT_EQ(server.requests().size(), kRequests) << "each was asked once";
}

TEST(Load, ASilentServerIsGivenUp) {
  FakeServer server([](const std::string&) { return Script{kStreamHead, Afterwards::kKeepOpen}; });
  LoadOptions options = load_of(server);
  options.timeout = std::chrono::milliseconds(20);
  options.concurrency = kRequests;
  expect_all(records_of(options, few_requests()), Outcome::kFailed, "expected it within --timeout");
}

TEST(Load, NobodyListeningIsAFailure) {
  std::string port;
  {
    const FakeServer server([](const std::string&) { return Script{}; });
    port = server.port();
  }
  LoadOptions options;
  options.url = {"127.0.0.1", port, ""};
  expect_all(records_of(options, few_requests()), Outcome::kFailed, "connect: Connection refused");
}

TEST(Load, AHostWithoutAnAddressIsAnError) {
  LoadOptions options;
  options.url = {"no.such.host.invalid", "80", ""};
  const auto result = run_load(options, Scenario(few_requests()));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("host 'no.such.host.invalid': expected a name or an address"));
}

TEST(Load, OutcomesMixAndAddUp) {
  std::atomic<int> n_requests = 0;
  FakeServer server([&](const std::string&) {
    switch (n_requests++ % 4) {
      case 0:
        return Script{good_answer()};
      case 1:
        return Script{"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"};
      case 2:
        return Script{kStreamHead + text_event("cut")};
      default:
        return Script{"garbage"};
    }
  });
  const Figures figures = figures_of(records_of(load_of(server), few_requests()), {});
  EXPECT_EQ(figures.n_of(Outcome::kOk), 3u);
  EXPECT_EQ(figures.n_of(Outcome::kRefused), 3u);
  EXPECT_EQ(figures.n_of(Outcome::kFailed), 6u);
}

TEST(Load, TurnsGrowByTheAnswersBefore) {
  FakeServer server([](const std::string&) { return Script{good_answer()}; });
  LoadOptions options = load_of(server);
  options.concurrency = 1;
  expect_all(records_of(options, few_requests(ScenarioKind::kMultiTurn)), Outcome::kOk, "");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), kRequests);
  std::string before;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto body = nlohmann::json::parse(requests[i].substr(requests[i].find("\r\n\r\n")));
    const std::string prompt = body["prompt"];
    if (i % 3 == 0) before.clear();
    EXPECT_TRUE(prompt.starts_with(before)) << prompt;
    EXPECT_GT(prompt.size(), before.size());
    before = prompt + "one two ";
  }
}

TEST(Load, TurnsAfterAFailedOneAreSkipped) {
  FakeServer server([](const std::string&) { return Script{"garbage"}; });
  const auto records = records_of(load_of(server), few_requests(ScenarioKind::kMultiTurn));
  ASSERT_EQ(records.size(), kRequests);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].outcome, i % 3 == 0 ? Outcome::kFailed : Outcome::kSkipped);
    EXPECT_EQ(records[i].conversation, i / 3);
    EXPECT_EQ(records[i].turn, i % 3);
  }
}

TEST(Load, AnOpenLoopSendsAllWithoutAnAnswer) {
  FakeServer server([](const std::string&) { return Script{kStreamHead, Afterwards::kKeepOpen}; });
  LoadOptions options = load_of(server);
  options.timeout = std::chrono::milliseconds(500);
  options.arrivals = ArrivalOptions{ArrivalKind::kPoisson, 10'000, 1};
  const auto records = records_of(options, few_requests());
  expect_all(records, Outcome::kFailed, "expected it within --timeout");
  const auto times_s = arrival_times_s(*options.arrivals, kRequests);
  for (size_t i = 0; i < kRequests; ++i) {
    EXPECT_EQ(records[i].due_ms, times_s[i] * 1000);
    EXPECT_GE(records[i].sent_ms, records[i].due_ms);
  }
}

TEST(Load, DroppedRequestsAreThePlannedOnes) {
  std::string long_answer = kStreamHead;
  for (int i = 0; i < 8; ++i) long_answer += text_event("x");
  long_answer += "data: [DONE]\n\n";
  FakeServer server([&](const std::string&) { return Script{long_answer}; });
  const Scenario scenario(few_requests(ScenarioKind::kCancelHeavy));
  const auto result = run_load(load_of(server), scenario);
  ASSERT_TRUE(result);
  for (size_t i = 0; i < kRequests; ++i) {
    const auto drop_after = scenario.conversation(i)[0].drop_after;
    const RequestRecord& record = result->records[i];
    EXPECT_EQ(record.outcome, drop_after ? Outcome::kCancelled : Outcome::kOk);
    EXPECT_EQ(record.output_tokens(), static_cast<int64_t>(drop_after.value_or(8)));
  }
}

TEST(Load, AnInterruptDropsWhatRunsAndSkipsTheRest) {
  for (const bool open_loop : {false, true}) {
    std::atomic<size_t> n_requests = 0;
    FakeServer server([&](const std::string&) {
      if (++n_requests == 3) ::kill(::getpid(), SIGINT);
      return Script{kStreamHead + text_event("one"), Afterwards::kKeepOpen};
    });
    LoadOptions options = load_of(server);
    options.handle_signals = true;
    if (open_loop) {
      options.arrivals = ArrivalOptions{ArrivalKind::kConstant, 1e-4, 1};  // the second arrival is hours away
      n_requests = 2;
    }
    const auto result = run_load(options, Scenario(few_requests()));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->was_interrupted);
    const Figures figures = figures_of(result->records, {});
    EXPECT_EQ(figures.n_of(Outcome::kCancelled), open_loop ? 1u : 3u);
    EXPECT_EQ(figures.n_of(Outcome::kSkipped), kRequests - figures.n_of(Outcome::kCancelled));
  }
}

TEST(Load, RequestsCarryKeyPathAndHost) {
  FakeServer server([](const std::string&) { return Script{good_answer()}; });
  LoadOptions options = load_of(server);
  options.url.path = "/proxy/v1";
  options.api_key = "k1";
  options.body.endpoint = EndpointKind::kChat;
  expect_all(records_of(options, few_requests()), Outcome::kOk, "");
  const std::string request = server.requests().front();
  EXPECT_THAT(request, ::testing::StartsWith("POST /proxy/v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Authorization: Bearer k1\r\n"));
  EXPECT_THAT(request, HasSubstr("Host: 127.0.0.1:" + server.port() + "\r\n"));
}

}  // namespace
}  // namespace ferrox
