// Can a stream be taken up again after its connection was lost, by nobody but its caller, and at a bounded cost?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "server/server_rig.h"
#include "server/streams/event_id.h"
#include "server/streams/event_window.h"
#include "server/streams/held_stream.h"
#include "server/streams/held_streams.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::RawClient;
using testing::RawResponse;
using testing::RigOptions;
using testing::ServerRig;

constexpr const char* kAskResumable = "x-ferrox-resumable: true\r\n";

// ---- books

TEST(EventWindow, TheOldestGoAndTheNewestStays) {
  EventWindow window(300);
  EXPECT_EQ(window.last(), 0u);
  EXPECT_TRUE(window.can_follow(0));
  EXPECT_FALSE(window.can_follow(1));
  for (int i = 1; i <= 10; ++i) window.append(std::string(36, static_cast<char>('a' + i)));  // 100 with the books
  EXPECT_EQ(window.first(), 8u);
  EXPECT_EQ(window.last(), 10u);
  EXPECT_EQ(window.n_bytes(), 300u);
  EXPECT_FALSE(window.can_follow(6));
  EXPECT_TRUE(window.can_follow(7));
  EXPECT_TRUE(window.can_follow(10));
  EXPECT_FALSE(window.can_follow(11));
  window.append(std::string(1000, 'x'));
  EXPECT_EQ(window.first(), 11u);
  EXPECT_EQ(window.after(10, 1).bytes, std::string(1000, 'x')) << "larger than a piece, and told";
}

TEST(EventWindow, PiecesAddUpToTheWhole) {
  EventWindow window(1 << 20);
  std::string whole;
  for (int i = 0; i < 50; ++i) {
    const std::string event(static_cast<size_t>(i % 7), 'e');
    window.append(event);
    whole += event;
  }
  std::string told;
  uint64_t at = 0;
  while (at < window.last()) {
    const auto piece = window.after(at, 10);
    EXPECT_GT(piece.last, at);
    EXPECT_LE(piece.bytes.size(), 10u);
    told += piece.bytes;
    at = piece.last;
  }
  EXPECT_EQ(told, whole);
  EXPECT_EQ(window.after(50, 10).bytes, "");
}

TEST(EventId, IsReadAsItIsWritten) {
  const EventId id{new_stream_id(), 17};
  EXPECT_EQ(id.stream.size(), 32u);
  EXPECT_NE(new_stream_id(), id.stream);
  const auto read = parse_event_id(to_text(id));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->stream, id.stream);
  EXPECT_EQ(read->number, 17u);
  const std::string& stream = id.stream;
  for (const std::string& bad : {stream, stream + ":", stream + ":-1", stream + ":1x", stream + ":99999999999999999999",
                                 std::string(":1"), stream.substr(1) + ":1", std::string("\x01:1"), stream + "::1"}) {
    const auto refused = parse_event_id(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().status, 400);
    EXPECT_EQ(refused.error().param, "last-event-id");
  }
}

/// Says what it is given.
class EchoWriter : public AnswerWriter {
 public:
  void collect(const ChoiceEvent&) override {}
  std::string whole_body() const override { return ""; }
  std::string repeated_body(const std::string& body) const override { return body; }
  std::string opening_events() const override { return ""; }
  std::string events_of(const ChoiceEvent&) override { return ""; }
  std::string closing_events() const override { return ""; }
  std::string waiting_event() const override { return ""; }
  std::string error_event(const ApiError& error) const override { return error.message; }
};

TEST(HeldStream, EventsAreNumberedAndCommentsAreNot) {
  asio::io_context io;
  HeldStream stream(io.get_executor(), "s", nullptr, std::make_unique<EchoWriter>(), 1 << 20, {});
  EXPECT_FALSE(stream.has_begun());
  stream.append(": waiting\n\ndata: 1\n\nevent: ping\ndata: {}\n\n");
  stream.append("");
  stream.append("data: 3\n\n");
  EXPECT_TRUE(stream.has_begun());
  EXPECT_EQ(stream.window().after(0, 1 << 20).bytes,
            "id: s:1\ndata: 1\n\nid: s:2\nevent: ping\ndata: {}\n\nid: s:3\ndata: 3\n\n");
}

TEST(HeldStream, IsAbandonedWhenNobodyHasBeenThereForSoLong) {
  using std::chrono::seconds;
  asio::io_context io;
  const HeldStream::Time start = std::chrono::steady_clock::now();
  HeldStream stream(io.get_executor(), "s", nullptr, std::make_unique<EchoWriter>(), 1 << 20, start);
  EXPECT_FALSE(stream.is_abandoned(start + seconds(119), seconds(120)));
  EXPECT_TRUE(stream.is_abandoned(start + seconds(120), seconds(120)));
  {
    const HeldStream::Attachment first(stream);
    EXPECT_FALSE(stream.is_abandoned(start + seconds(1000), seconds(120)));
    {
      const HeldStream::Attachment second(stream);
      EXPECT_FALSE(first.is_current());
      EXPECT_TRUE(second.is_current());
    }
    EXPECT_FALSE(stream.is_attached()) << "the earlier one doesn't come back";
  }
  EXPECT_TRUE(stream.is_abandoned(std::chrono::steady_clock::now() + seconds(120), seconds(120)));
  EXPECT_FALSE(stream.is_abandoned(std::chrono::steady_clock::now() + seconds(60), seconds(120)));
}

class HeldStreamsOfKeys : public ::testing::Test {
 protected:
  using seconds = std::chrono::seconds;

  std::shared_ptr<HeldStream> open(const ApiKey& owner) {
    now_ += seconds(1);
    if (streams_.wait_for_room(&owner, 60, now_)) return nullptr;
    return streams_.open(&owner, std::make_unique<EchoWriter>(), now_);
  }
  std::shared_ptr<HeldStream> ended(const ApiKey& owner, bool is_told) {
    const auto stream = open(owner);
    now_ += seconds(1);
    stream->finish(now_);
    if (is_told) stream->note_told();
    return stream;
  }
  bool is_kept(const std::shared_ptr<HeldStream>& stream) {
    return streams_.find(stream->id(), stream->owner()) != nullptr;
  }

  asio::io_context io_;
  HeldStreamOptions options_{.most_streams = 4, .patience = std::chrono::seconds(120)};
  HeldStreams streams_{io_.get_executor(), options_};
  ApiKey alice_;
  ApiKey bob_;
  HeldStream::Time now_ = std::chrono::steady_clock::now();
};

TEST_F(HeldStreamsOfKeys, TheOldestThatWasToldGoesFirst) {
  const auto running = open(alice_);
  const auto untold = ended(alice_, false);
  const auto first = ended(bob_, true);
  const auto second = ended(alice_, true);
  EXPECT_TRUE(is_kept(first));
  ASSERT_NE(open(bob_), nullptr);
  EXPECT_FALSE(is_kept(first));
  EXPECT_TRUE(is_kept(second));
  ASSERT_NE(open(bob_), nullptr);
  EXPECT_FALSE(is_kept(second));
  EXPECT_TRUE(is_kept(untold));
  EXPECT_TRUE(is_kept(running));
}

TEST_F(HeldStreamsOfKeys, ThenTheOldestThatEndedOfWhoeverHasMost) {
  const auto oldest = ended(bob_, false);
  const auto first = ended(alice_, false);
  const auto second = ended(alice_, false);
  const auto third = ended(alice_, false);
  ASSERT_NE(open(bob_), nullptr);
  EXPECT_FALSE(is_kept(first)) << "of alice, who has three";
  EXPECT_TRUE(is_kept(oldest));
  ASSERT_NE(open(bob_), nullptr) << "both have two: one of the caller's own";
  EXPECT_FALSE(is_kept(oldest));
  EXPECT_TRUE(is_kept(second));
  const HeldStream::Attachment reader(*second);
  ASSERT_NE(open(alice_), nullptr);
  EXPECT_TRUE(is_kept(second)) << "somebody reads it";
  EXPECT_FALSE(is_kept(third));
  EXPECT_EQ(streams_.stats().n_refused, 0u);
}

TEST_F(HeldStreamsOfKeys, WhoHasLessIsNeverRobbed) {
  std::vector<std::shared_ptr<HeldStream>> running;
  for (int i = 0; i < 3; ++i) running.push_back(open(alice_));
  const auto of_bob = ended(bob_, false);
  EXPECT_EQ(open(alice_), nullptr);
  EXPECT_TRUE(is_kept(of_bob));
  EXPECT_EQ(streams_.stats().n_refused, 1u);
}

TEST_F(HeldStreamsOfKeys, APlaceThatComesFreeIsKeptForWhoAskedInVain) {
  std::vector<std::shared_ptr<HeldStream>> running;
  for (int i = 0; i < 4; ++i) running.push_back(open(alice_));
  EXPECT_EQ(open(bob_), nullptr);
  streams_.remove(*running.back());
  EXPECT_EQ(open(alice_), nullptr) << "she has three, bob none";
  ASSERT_NE(open(bob_), nullptr);
  streams_.remove(*running.front());
  EXPECT_NE(open(alice_), nullptr) << "bob has what he asked for";
}

TEST_F(HeldStreamsOfKeys, AClaimEnds) {
  std::vector<std::shared_ptr<HeldStream>> running;
  for (int i = 0; i < 4; ++i) running.push_back(open(alice_));
  EXPECT_EQ(open(bob_), nullptr);
  streams_.remove(*running.back());
  now_ += seconds(1000);
  EXPECT_NE(open(alice_), nullptr);
}

TEST_F(HeldStreamsOfKeys, TheWaitIsUntilOneEndsOrGoes) {
  std::vector<std::shared_ptr<HeldStream>> running;
  for (int i = 0; i < 3; ++i) running.push_back(open(alice_));
  const auto of_bob = ended(bob_, false);
  EXPECT_EQ(streams_.wait_for_room(&alice_, 30, now_), 10) << "three run for thirty seconds each";
  EXPECT_EQ(streams_.wait_for_room(&alice_, 3000, now_ + seconds(100)), 20) << "then bob's has been there for 120";
}

// ---- the server

/// HTTP/1.0, whose bodies have no frames: the bytes of a stream are its events.
class StreamReader {
 public:
  StreamReader(const ServerRig& rig, std::string_view method, std::string_view path, std::string_view headers,
               const Json& body = nullptr, int receive_buffer_bytes = 0)
      : client_(rig.port(), receive_buffer_bytes) {
    const std::string text = body.is_null() ? "" : dump_json(body);
    client_.send(fmt::format("{} {} HTTP/1.0\r\nHost: 127.0.0.1\r\n{}Content-Length: {}\r\n\r\n{}", method, path,
                             headers, text.size(), text));
  }

  const RawResponse& head() {
    if (!head_) head_ = client_.read_head();
    return *head_;
  }
  int status() { return head().status; }
  std::string stream_id() { return head().headers.at("x-ferrox-stream-id"); }

  /// The next event that has a number; "" at the end.
  std::string next() {
    head();
    for (;;) {
      std::string event = client_.read_until("\n\n");
      if (event.starts_with("id: ") || !event.ends_with("\n\n")) return event;
      last_unnumbered_ = event;
    }
  }

  /// The next event or comment, numbered or not.
  std::string next_of_any_kind() {
    head();
    return client_.read_until("\n\n");
  }

  std::string rest() {
    std::string all;
    for (std::string event = next(); !event.empty(); event = next()) all += event;
    return all;
  }

  std::string body() {
    head();
    while (client_.receive()) {
    }
    return client_.unread();
  }
  std::string code() { return Json::parse(body())["error"]["code"]; }
  const std::string& last_unnumbered() const { return last_unnumbered_; }
  void close() { client_.close(); }

 private:
  RawClient client_;
  std::optional<RawResponse> head_;
  std::string last_unnumbered_;
};

std::string id_of(const std::string& event) { return event.substr(4, event.find('\n') - 4); }

StreamReader begin_stream(const ServerRig& rig, const std::string& path, Json body, std::string headers = "") {
  body["stream"] = true;
  return StreamReader(rig, "POST", path, kAskResumable + headers, body);
}

StreamReader take_up(const ServerRig& rig, const std::string& stream_id, const std::string& last_event = "",
                     const std::string& headers = "") {
  const std::string place = last_event.empty() ? "" : "Last-Event-ID: " + last_event + "\r\n";
  return StreamReader(rig, "GET", "/v1/streams/" + stream_id, place + headers);
}

Json forty_tokens() { return {{"prompt", "Once"}, {"max_tokens", 40}, {"ignore_eos", true}, {"seed", 7}}; }
Json unending() { return {{"prompt", "Once"}, {"max_tokens", -1}, {"ignore_eos", true}}; }

RigOptions roomy_streams() {
  RigOptions options;
  options.engine.context_length = 1 << 17;
  return options;
}

double metric_of(const ServerRig& rig, const std::string& name) {
  const std::string text = rig.call("GET", "/metrics").body;
  const size_t at = text.find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << name;
  return std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

void wait_for_metric(const ServerRig& rig, const std::string& name, double expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (metric_of(rig, name) != expected) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << name;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

struct Question {
  const char* path;
  Json body;
};

std::vector<Question> asked_everywhere() {
  Json chat = {{"messages", {{{"role", "user"}, {"content", "What is the capital of Italy?"}}}}, {"max_tokens", 20}};
  Json several = chat;
  several["n"] = 3;
  several["stream_options"] = {{"include_usage", true}};
  several["logprobs"] = true;
  return {{"/v1/completions", forty_tokens()}, {"/v1/chat/completions", several}, {"/v1/messages", chat}};
}

TEST(Streams, WhatFollowsAnyEventIsToldAgainByteForByte) {
  const ServerRig rig;
  for (const auto& [path, body] : asked_everywhere()) {
    StreamReader whole = begin_stream(rig, path, body);
    ASSERT_EQ(whole.status(), 200) << path;
    std::vector<std::string> events;
    for (std::string event = whole.next(); !event.empty(); event = whole.next()) events.push_back(event);
    ASSERT_GT(events.size(), 5u) << path;
    for (size_t n = 0; n < events.size(); ++n) {
      std::string expected;
      for (size_t i = n; i < events.size(); ++i) expected += events[i];
      EXPECT_EQ(take_up(rig, whole.stream_id(), n == 0 ? "" : id_of(events[n - 1])).rest(), expected) << path << n;
    }
    EXPECT_EQ(take_up(rig, whole.stream_id(), id_of(events.back())).status(), 204) << "an EventSource stops";
  }
}

TEST(Streams, AConnectionThatIsCutAfterEveryEventLosesNothing) {
  const ServerRig rig;
  for (const auto& [path, body] : asked_everywhere()) {
    StreamReader first = begin_stream(rig, path, body);
    const std::string stream = first.stream_id();
    std::string told = first.next();
    std::string last = id_of(told);
    first.close();
    for (;;) {
      StreamReader next = take_up(rig, stream, last);
      if (next.status() == 204) break;
      ASSERT_EQ(next.status(), 200);
      const std::string event = next.next();
      ASSERT_FALSE(event.empty());
      told += event;
      last = id_of(event);
    }
    EXPECT_EQ(told, take_up(rig, stream).rest()) << path;
  }
  rig.expect_all_released();
}

TEST(Streams, TheTextIsThatOfAStreamWithoutIt) {
  const ServerRig rig;
  const Json whole = Json::parse(rig.complete(forty_tokens()).body);
  std::string text;
  StreamReader reader = begin_stream(rig, "/v1/completions", forty_tokens());
  for (std::string event = reader.next(); !event.empty(); event = reader.next()) {
    const std::string data = event.substr(event.find("data: ") + 6);
    if (!data.starts_with("[DONE]")) text += Json::parse(data)["choices"][0]["text"].get<std::string>();
  }
  EXPECT_EQ(text, whole["choices"][0]["text"]);
}

TEST(Streams, ThePathOfTheAnswerTakesItUpAsWell) {
  const ServerRig rig;
  for (const auto& [path, body] : asked_everywhere()) {
    StreamReader first = begin_stream(rig, path, body);
    const std::string event = first.next();
    first.close();
    const std::string header = "Last-Event-ID: " + id_of(event) + "\r\n";
    EXPECT_EQ(event + StreamReader(rig, "POST", path, header, body).rest(), take_up(rig, first.stream_id()).rest());
  }
  StreamReader wrong(rig, "POST", "/v1/messages", "Last-Event-ID: 7\r\n", asked_everywhere()[2].body);
  EXPECT_EQ(wrong.status(), 400);
  EXPECT_THAT(wrong.body(), HasSubstr("\"type\":\"error\"")) << "in the dialect of the path";
}

TEST(Streams, AreKeptAliveByCommentsThatArentKept) {
  RigOptions options = roomy_streams();
  options.engine.n_parallel = 1;
  options.server.first_event_wait = std::chrono::milliseconds(20);
  options.server.keepalive_interval = std::chrono::milliseconds(20);
  ServerRig rig(options);
  StreamReader blocker = begin_stream(rig, "/v1/completions", unending());
  blocker.next();
  StreamReader waiting = begin_stream(rig, "/v1/completions", forty_tokens());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(waiting.next_of_any_kind(), ": waiting\n\n");
  EXPECT_EQ(rig.call("POST", "/v1/cancel", {{"id", blocker.head().headers.at("x-request-id")}}).status, 200);
  const std::string told = waiting.rest();
  EXPECT_EQ(told, take_up(rig, waiting.stream_id()).rest());
  EXPECT_THAT(told, HasSubstr("[DONE]"));
}

TEST(Streams, AreNothingToOtherKeys) {
  RigOptions options;
  options.server.api_keys = {"one", "two"};
  ServerRig rig(options);
  const std::string one = "x-api-key: one\r\n";
  StreamReader first = begin_stream(rig, "/v1/completions", forty_tokens(), one);
  const std::string event = first.next();
  const std::string stream = first.stream_id();
  EXPECT_EQ(take_up(rig, stream).status(), 401);
  for (const std::string& last : {std::string(), id_of(event)}) {
    StreamReader other = take_up(rig, stream, last, "x-api-key: two\r\n");
    EXPECT_EQ(other.status(), 404);
    EXPECT_EQ(other.code(), "not_found");
  }
  first.rest();
  EXPECT_THAT(take_up(rig, stream, id_of(event), one).rest(), HasSubstr("[DONE]"));
}

TEST(Streams, WrongPlacesAreRefused) {
  const ServerRig rig;
  StreamReader first = begin_stream(rig, "/v1/completions", forty_tokens());
  first.rest();
  const std::string stream = first.stream_id();
  EXPECT_EQ(take_up(rig, new_stream_id()).status(), 404);
  EXPECT_EQ(take_up(rig, "x").status(), 404);
  EXPECT_EQ(take_up(rig, stream, "garbage").status(), 400);
  EXPECT_EQ(take_up(rig, stream, new_stream_id() + ":1").status(), 400) << "another stream than the path's";
  StreamReader later = take_up(rig, stream, stream + ":4000");
  EXPECT_EQ(later.status(), 400);
  EXPECT_THAT(later.body(), HasSubstr("found 4000"));
  EXPECT_EQ(StreamReader(rig, "HEAD", "/v1/streams/" + stream, "").status(), 200);
  EXPECT_EQ(StreamReader(rig, "DELETE", "/v1/streams/" + stream, "").status(), 405);
}

TEST(Streams, IsAskedForByAHeaderThatIsNeverIgnored) {
  RigOptions options;
  options.server.streams.most_streams = 0;
  ServerRig none(options);
  StreamReader refused = begin_stream(none, "/v1/completions", forty_tokens());
  EXPECT_EQ(refused.status(), 501);
  EXPECT_EQ(refused.code(), "unsupported");
  const ServerRig rig;
  StreamReader whole(rig, "POST", "/v1/completions", kAskResumable, forty_tokens());
  EXPECT_EQ(whole.status(), 400);
  EXPECT_THAT(whole.body(), HasSubstr("x-ferrox-resumable"));
  Json streamed = forty_tokens();
  streamed["stream"] = true;
  EXPECT_EQ(StreamReader(rig, "POST", "/v1/completions", "x-ferrox-resumable: maybe\r\n", streamed).status(), 400);
  StreamReader plain(rig, "POST", "/v1/completions", "x-ferrox-resumable: false\r\n", streamed);
  EXPECT_EQ(plain.status(), 200);
  EXPECT_FALSE(plain.head().headers.contains("x-ferrox-stream-id"));
}

TEST(Streams, WhatIsOlderThanTheWindowIsGone) {
  RigOptions options;
  options.server.streams.window_bytes = 2000;
  ServerRig rig(options);
  StreamReader first = begin_stream(rig, "/v1/completions", forty_tokens());
  const std::string stream = first.stream_id();
  first.close();  // unread: what it hasn't read by then may have gone already
  rig.expect_all_released();
  StreamReader late = take_up(rig, stream, stream + ":1");
  EXPECT_EQ(late.status(), 410);
  const Json error = Json::parse(late.body())["error"];
  EXPECT_EQ(error["code"], "events_gone");
  const std::string message = error["message"];
  EXPECT_THAT(message, HasSubstr("events 2 to "));
  const size_t kept = message.find("gone, ") + 6;
  const int first_kept = std::atoi(message.c_str() + kept);
  ASSERT_GT(first_kept, 2);
  StreamReader rest = take_up(rig, stream, fmt::format("{}:{}", stream, first_kept - 1));
  EXPECT_THAT(rest.rest(), HasSubstr("[DONE]"));
  EXPECT_LE(metric_of(rig, "ferrox_resumable_stream_bytes"), 2000);
  EXPECT_EQ(metric_of(rig, "ferrox_stream_resumes_gone_total"), 1);
}

TEST(Streams, NobodyAttachedForTooLongIsCancelledAndForgotten) {
  RigOptions options = roomy_streams();
  options.server.streams.patience = std::chrono::milliseconds(300);
  options.server.keepalive_interval = std::chrono::milliseconds(20);
  ServerRig rig(options);
  StreamReader first = begin_stream(rig, "/v1/completions", unending());
  const std::string stream = first.stream_id();
  first.next();
  EXPECT_EQ(metric_of(rig, "ferrox_resumable_streams"), 1);
  first.close();
  rig.expect_all_released();
  wait_for_metric(rig, "ferrox_resumable_streams", 0);
  EXPECT_EQ(metric_of(rig, "ferrox_resumable_stream_bytes"), 0);
  EXPECT_EQ(take_up(rig, stream).status(), 404);
}

TEST(Streams, OneThatIsAttachedOutlivesThePatience) {
  RigOptions options = roomy_streams();
  options.server.streams.patience = std::chrono::milliseconds(20);
  options.server.keepalive_interval = std::chrono::milliseconds(5);
  ServerRig rig(options);
  StreamReader first = begin_stream(rig, "/v1/completions", unending());
  const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < enough) ASSERT_FALSE(first.next().empty());
  first.close();
  rig.expect_all_released();
}

TEST(Streams, IsCancelledByIdWhileNobodyIsAttached) {
  ServerRig rig(roomy_streams());
  StreamReader first = begin_stream(rig, "/v1/completions", unending());
  const std::string event = first.next();
  const std::string request = first.head().headers.at("x-request-id");
  const std::string stream = first.stream_id();
  first.close();
  wait_for_metric(rig, "ferrox_resumable_streams_detached", 1);
  EXPECT_EQ(rig.call("POST", "/v1/cancel", {{"id", "cmpl-" + request}}).status, 200);
  rig.expect_all_released();
  EXPECT_THAT(take_up(rig, stream, id_of(event)).rest(), HasSubstr("\"cancelled\""));
  EXPECT_EQ(rig.call("POST", "/v1/cancel", {{"id", "cmpl-" + request}}).status, 404);
}

TEST(Streams, CancelsThatRaceWithReadersLeaveNothing) {
  RigOptions options = roomy_streams();
  options.server.streams.patience = std::chrono::milliseconds(0);
  options.server.keepalive_interval = std::chrono::milliseconds(1);
  ServerRig rig(options);
  for (int round = 0; round < 20; ++round) {
    StreamReader first = begin_stream(rig, "/v1/completions", unending());
    const std::string request = first.head().headers.at("x-request-id");
    const std::string stream = first.stream_id();
    std::thread canceller([&] { rig.call("POST", "/v1/cancel", {{"id", request}}); });
    if (round % 2 == 0) first.close();
    StreamReader second = take_up(rig, stream);
    if (round % 3 == 0) second.close();
    canceller.join();
  }
  rig.expect_all_released();
  wait_for_metric(rig, "ferrox_resumable_streams", 0);
}

TEST(Streams, TheLaterReaderTakesThePlaceOfTheEarlier) {
  ServerRig rig(roomy_streams());
  StreamReader first = begin_stream(rig, "/v1/completions", unending());
  first.next();
  StreamReader second = take_up(rig, first.stream_id());
  EXPECT_FALSE(second.next().empty());
  first.rest();
  EXPECT_THAT(first.last_unnumbered(), HasSubstr("stream_taken_over"));
  EXPECT_FALSE(second.next().empty());
  second.close();
  EXPECT_EQ(rig.call("POST", "/v1/cancel", {{"id", first.head().headers.at("x-request-id")}}).status, 200);
  rig.expect_all_released();
}

TEST(Streams, OneMoreThanMayBeKeptIsRefusedUnlessOneWasToldWhole) {
  RigOptions options = roomy_streams();
  options.server.streams.most_streams = 1;
  ServerRig rig(options);
  StreamReader first = begin_stream(rig, "/v1/completions", unending());
  first.next();
  StreamReader second = begin_stream(rig, "/v1/completions", forty_tokens());
  EXPECT_EQ(second.status(), 503);
  EXPECT_TRUE(second.head().headers.contains("retry-after"));
  EXPECT_EQ(second.code(), "streams_busy");
  EXPECT_EQ(metric_of(rig, "ferrox_refused_streams_total"), 1);
  EXPECT_EQ(rig.complete({{"prompt", "x"}, {"max_tokens", 1}}).status, 200) << "others don't mind";
  EXPECT_EQ(rig.call("POST", "/v1/cancel", {{"id", first.head().headers.at("x-request-id")}}).status, 200);
  first.rest();
  StreamReader third = begin_stream(rig, "/v1/completions", forty_tokens());
  EXPECT_EQ(third.status(), 200);
  EXPECT_EQ(take_up(rig, first.stream_id()).status(), 404) << "it gave way";
  third.rest();
}

TEST(Streams, WhatTheEngineRefusesIsAStatusAndKeepsNothing) {
  RigOptions options;
  options.engine.n_parallel = 1;
  options.engine.max_queue = 0;
  options.engine.context_length = 1 << 15;
  ServerRig rig(options);
  StreamReader running = begin_stream(rig, "/v1/completions", unending());
  running.next();
  StreamReader refused = begin_stream(rig, "/v1/completions", unending());
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(refused.code(), "queue_full");
  EXPECT_EQ(metric_of(rig, "ferrox_resumable_streams"), 1);
  rig.call("POST", "/v1/cancel", {{"id", running.head().headers.at("x-request-id")}});
}

TEST(Streams, WhatLacksRoomUntilItsDeadlineIsAStatusAndKeepsNothing) {
  RigOptions options = roomy_streams();
  options.engine.n_parallel = 1;
  ServerRig rig(options);
  StreamReader running = begin_stream(rig, "/v1/completions", unending());
  running.next();
  Json waiting = unending();
  waiting["timeout"] = 0.05;
  StreamReader refused = begin_stream(rig, "/v1/completions", waiting);
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(refused.code(), "kv_exhausted");
  wait_for_metric(rig, "ferrox_resumable_streams", 1);
  rig.call("POST", "/v1/cancel", {{"id", running.head().headers.at("x-request-id")}});
}

TEST(Streams, AReaderThatFallsBehindTheWindowIsCutOffAndTheStreamGoesOn) {
  RigOptions options = roomy_streams();
  options.server.streams.window_bytes = 4000;
  options.server.limits.send_buffer_bytes = 2048;
  ServerRig rig(options);
  Json body = unending();
  body["stream"] = true;
  StreamReader slow(rig, "POST", "/v1/completions", kAskResumable, body, 2048);
  const std::string request = slow.head().headers.at("x-request-id");
  wait_for_metric(rig, "ferrox_resumable_streams_detached", 1);
  EXPECT_EQ(rig.engine->status().n_running, 1);
  EXPECT_EQ(rig.call("POST", "/v1/cancel", {{"id", request}}).status, 200);
  rig.expect_all_released();
}

TEST(Streams, OneWithMoreEventsThanMayWaitEnds) {
  RigOptions options = roomy_streams();
  options.server.limits.max_stream_backlog_bytes = 1;
  ServerRig rig(options);
  StreamReader reader = begin_stream(rig, "/v1/completions", unending());
  EXPECT_THAT(reader.rest(), HasSubstr("\"cancelled\""));
  rig.expect_all_released();
  rig.stop();  // ends
}

TEST(Streams, ADrainWaitsForWhatRunsDetachedAndLetsItBeTakenUp) {
  RigOptions options = roomy_streams();
  options.server.drain_timeout = std::chrono::minutes(10);
  options.server.streams.window_bytes = 16 << 20;
  ServerRig rig(options);
  Json body = forty_tokens();
  body["max_tokens"] = 2000;
  StreamReader first = begin_stream(rig, "/v1/completions", body);
  const std::string event = first.next();
  const std::string stream = first.stream_id();
  first.close();
  wait_for_metric(rig, "ferrox_resumable_streams_detached", 1);
  rig.server->stop();
  StreamReader second = take_up(rig, stream, id_of(event));
  EXPECT_EQ(second.status(), 200);
  EXPECT_THAT(second.rest(), HasSubstr("[DONE]"));
  rig.thread.join();
}

TEST(Streams, ADrainCancelsThemAtItsLimitAndEnds) {
  RigOptions options = roomy_streams();
  options.server.drain_timeout = std::chrono::milliseconds(50);
  ServerRig rig(options);
  StreamReader first = begin_stream(rig, "/v1/completions", unending());
  first.next();
  first.close();
  StreamReader ended = begin_stream(rig, "/v1/completions", forty_tokens());
  ended.rest();
  rig.stop();
  rig.expect_all_released();
}

}  // namespace
}  // namespace ferrox
