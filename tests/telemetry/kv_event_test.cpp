// Are events encoded as vLLM's readers expect, queued within a limit, and published so that a gap is seen?
#include "telemetry/kv_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <map>
#include <set>

#include <zmq.hpp>

#include "kv/page_hash.h"
#include "support/sanitized.h"
#include "telemetry/kv_event_history.h"
#include "telemetry/kv_event_publisher.h"

namespace ferrox {
namespace {

using namespace std::chrono_literals;
using EventBody = nlohmann::json;

BlocksRemoved removal(uint64_t hash) { return BlocksRemoved{{hash}}; }

TEST(KvEvent, IsWrittenAsVllmsSchemaSays) {
  const KvEventBatch batch{
      7, 1.5, {BlocksStored{{~uint64_t{0}, 2}, 9, {1, 2, 3, 4}, 2, "ab"}, BlocksRemoved{{5, 6}}, AllBlocksCleared{}}};
  const EventBody read = EventBody::from_msgpack(encode(batch));
  const EventBody expected = {1.5,
                              {{"BlockStored", {~uint64_t{0}, 2}, 9, {1, 2, 3, 4}, 2, nullptr, "GPU", nullptr},
                               {"BlockRemoved", {5, 6}, "GPU"},
                               EventBody::array({"AllBlocksCleared"})},
                              0};
  EXPECT_EQ(read, expected);
}

TEST(KvEvent, APrivateNamespaceIsMarkedWhereItBegins) {
  const KvEventBatch batch{0, 0, {BlocksStored{{1, 2}, {}, {1, 2}, 1, "ab"}}};
  const EventBody event = EventBody::from_msgpack(encode(batch))[1][0];
  EXPECT_EQ(event[2], nullptr);
  EXPECT_EQ(event[8], (EventBody{{"ab"}, nullptr}));
  const KvEventBatch shared{0, 0, {BlocksStored{{1, 2}, {}, {1, 2}, 1, ""}}};
  EXPECT_EQ(EventBody::from_msgpack(encode(shared))[1][0].size(), 8u);
}

TEST(KvEventQueue, NumbersMessagesAndGathersEvents) {
  int n_woken = 0;
  KvEventQueue queue(1 << 20, [&] { ++n_woken; });
  queue.push(removal(1));
  queue.push(removal(2));
  auto batches = queue.take();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].sequence, 0u);
  EXPECT_EQ(batches[0].events.size(), 2u);
  queue.push(removal(3));
  EXPECT_EQ(queue.take()[0].sequence, 1u);
  EXPECT_TRUE(queue.take().empty());
  EXPECT_EQ(n_woken, 2) << "once for all that was there";
}

TEST(KvEventQueue, WhatNobodySendsIsDropped) {
  int n_woken = 0;
  KvEventQueue queue(1 << 20, [&] { ++n_woken; });
  queue.push(removal(1));
  queue.take();
  queue.push(removal(2));
  queue.push(removal(3));
  queue.close();
  queue.push(removal(4));
  EXPECT_TRUE(queue.take().empty());
  EXPECT_EQ(queue.stats().n_told, 1u);
  EXPECT_EQ(queue.stats().n_dropped, 3u);
  EXPECT_EQ(n_woken, 2);
}

TEST(KvEventQueue, WhatFindsNoRoomLeavesAGapAndAClearedBehindIt) {
  KvEventQueue queue(3 * size_bytes(removal(0)), [] {});
  for (uint64_t i = 0; i < 5; ++i) queue.push(removal(i));
  EXPECT_EQ(queue.stats().n_dropped, 2u);
  const auto before = queue.take();
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].events.size(), 3u);
  queue.push(removal(9));
  const auto after = queue.take();
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].sequence, 3u) << "1 and 2 were dropped";
  ASSERT_EQ(after[0].events.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<AllBlocksCleared>(after[0].events[0]));
  EXPECT_TRUE(std::holds_alternative<BlocksRemoved>(after[0].events[1]));
}

TEST(KvEventHistory, KeepsTheLastMessagesWithinItsLimits) {
  KvEventHistory history(3, 100);
  for (uint64_t i = 0; i < 5; ++i) history.keep({i, std::string(10, 'x')});
  EXPECT_EQ(history.messages().size(), 3u);
  EXPECT_EQ(history.messages().front().sequence, 2u);
  history.keep({5, std::string(95, 'x')});
  EXPECT_EQ(history.messages().size(), 1u);
}

/// An endpoint of this machine that nobody else uses.
std::string fresh_endpoint(const char* name) {
  static int n = 0;
  return fmt::format("ipc://{}ferrox-{}-{}-{}", ::testing::TempDir(), name, getpid(), ++n);
}

uint64_t sequence_of(const zmq::message_t& part) {
  EXPECT_EQ(part.size(), 8u);
  uint64_t number = 0;
  for (const char byte : part.to_string_view()) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

std::vector<zmq::message_t> receive(zmq::socket_t& socket) {
  std::vector<zmq::message_t> parts;
  do {
    parts.emplace_back();
    if (!socket.recv(parts.back())) return {};  // the socket's time limit
  } while (parts.back().more());
  return parts;
}

class Reader {
 public:
  Reader(zmq::socket_type type, const std::string& endpoint, int most_unread = 1000) : socket_(context_, type) {
    socket_.set(zmq::sockopt::rcvhwm, most_unread);
    socket_.set(zmq::sockopt::rcvtimeo, 60'000);
    socket_.set(zmq::sockopt::linger, 0);
    if (type == zmq::socket_type::sub) socket_.set(zmq::sockopt::subscribe, "kv@");
    socket_.connect(endpoint);
  }
  zmq::socket_t& socket() { return socket_; }

 private:
  zmq::context_t context_{1};
  zmq::socket_t socket_;
};

void ask_replay(zmq::socket_t& socket, uint64_t first) {
  std::string number(8, '\0');
  for (int i = 0; i < 8; ++i) number[static_cast<size_t>(i)] = static_cast<char>(first >> (56 - 8 * i));
  socket.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
  socket.send(zmq::buffer(number));
}

/// What was asked for from a number on.
std::map<uint64_t, EventBody> read_replay(Reader& reader) {
  std::map<uint64_t, EventBody> messages;
  for (;;) {
    const auto parts = receive(reader.socket());
    EXPECT_EQ(parts.size(), 3u);
    if (parts.size() != 3 || sequence_of(parts[1]) == ~uint64_t{0}) return messages;
    messages[sequence_of(parts[1])] = EventBody::from_msgpack(parts[2].to_string());
  }
}

/// Everything that the replay socket has from a number on.
std::map<uint64_t, EventBody> replay_from(const std::string& endpoint, uint64_t first) {
  Reader reader(zmq::socket_type::dealer, endpoint);
  ask_replay(reader.socket(), first);
  return read_replay(reader);
}

KvEventPublisherOptions publisher_options() {
  KvEventPublisherOptions options;
  options.endpoint = fresh_endpoint("events");
  options.replay_endpoint = fresh_endpoint("replay");
  options.topic = "kv@here@model";
  return options;
}

TEST(KvEventPublisher, ASubscriberHearsWhatThePrefixTreeTells) {
  const KvEventPublisherOptions options = publisher_options();
  const auto publisher = *KvEventPublisher::open(options);
  Reader reader(zmq::socket_type::sub, options.endpoint);
  // A subscription takes its time: what comes before it is missed, so the first event is told until it is heard.
  const std::vector<uint64_t> first_hash = {1};
  reader.socket().set(zmq::sockopt::rcvtimeo, 20);
  std::vector<zmq::message_t> parts;
  for (int i = 0; i < 3000 && parts.empty(); ++i) {
    publisher->removed(first_hash);
    parts = receive(reader.socket());
  }
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].to_string(), "kv@here@model");
  reader.socket().set(zmq::sockopt::rcvtimeo, 60'000);

  const std::vector<int32_t> tokens = {5, 6, 7, 8};
  const std::vector<uint64_t> hashes = {page_hash(root_hash("a"), std::span(tokens).first(2)), 4};
  publisher->stored({"a", std::nullopt, hashes, tokens, 2});
  uint64_t last = sequence_of(parts[1]);
  EventBody stored;
  while (stored.is_null()) {
    parts = receive(reader.socket());
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(sequence_of(parts[1]), ++last) << "no gap";
    const EventBody batch = EventBody::from_msgpack(parts[2].to_string());
    for (const EventBody& event : batch[1]) {
      if (event[0] == "BlockStored") stored = event;
    }
  }
  EXPECT_EQ(stored[1], hashes);
  EXPECT_EQ(stored[2], nullptr);
  EXPECT_EQ(stored[3], tokens);
  EXPECT_EQ(stored[4], 2);
  EXPECT_EQ(stored[8][0][0], fmt::format("{:016x}", root_hash("a")));
}

TEST(KvEventPublisher, OldMessagesAreSentOnceMore) {
  const KvEventPublisherOptions options = publisher_options();
  const auto publisher = *KvEventPublisher::open(options);
  const std::vector<uint64_t> hash = {42};
  publisher->removed(hash);
  std::map<uint64_t, EventBody> messages;
  const auto n_events = [&] {
    size_t n = 0;
    for (const auto& [sequence, batch] : messages) n += batch[1].size();
    return n;
  };
  for (int i = 0; i < 3000 && n_events() < 2; ++i) messages = replay_from(options.replay_endpoint, 0);
  ASSERT_EQ(n_events(), 2u);
  EXPECT_EQ(messages.begin()->second[1][0], EventBody::array({"AllBlocksCleared"})) << "a start is told";
  EXPECT_TRUE(replay_from(options.replay_endpoint, 1000).empty());
}

TEST(KvEventPublisher, NonsenseAtTheReplaySocketIsPassedOver) {
  const KvEventPublisherOptions options = publisher_options();
  const auto publisher = *KvEventPublisher::open(options);
  Reader reader(zmq::socket_type::dealer, options.replay_endpoint);
  reader.socket().send(zmq::str_buffer("what"));
  for (int i = 0; i < 5; ++i) reader.socket().send(zmq::str_buffer(""), zmq::send_flags::sndmore);
  reader.socket().send(zmq::str_buffer("123"));
  std::map<uint64_t, EventBody> messages;
  for (int i = 0; i < 3000 && messages.empty(); ++i) messages = replay_from(options.replay_endpoint, 0);
  EXPECT_EQ(messages.size(), 1u);
}

/// An event of some 40 KB, more than a few of which no system keeps for a socket.
void store_much(KvEventPublisher& publisher, uint64_t hash) {
  const std::vector<int32_t> tokens(8192, 1 << 20);
  const std::vector<uint64_t> hashes = {hash};
  publisher.stored({"", std::nullopt, hashes, tokens, 8192});
}

/// The hash of the last event of a message.
uint64_t last_hash(const EventBody& batch) { return batch[1].back()[1][0]; }

/// Publishes events until all that is kept are n messages of large ones.
void fill_history(KvEventPublisher& publisher, const std::string& replay_endpoint, size_t n) {
  for (uint64_t i = 1; i <= n; ++i) {
    store_much(publisher, i);
    for (bool is_kept = false; !is_kept;) {
      const auto messages = replay_from(replay_endpoint, 0);
      is_kept = !messages.empty() && messages.rbegin()->second[1].back().size() > 1 &&
                last_hash(messages.rbegin()->second) == i;
    }
  }
}

TEST(KvEventPublisher, WhoAsksWithoutReadingGetsTwoReplaysAtMostAndLaterAllAgain) {
  KvEventPublisherOptions options = publisher_options();
  options.most_replayed = 4;
  const auto publisher = *KvEventPublisher::open(options);
  fill_history(*publisher, options.replay_endpoint, 4);
  Reader reader(zmq::socket_type::dealer, options.replay_endpoint, 1);
  Reader other(zmq::socket_type::dealer, options.replay_endpoint);
  ask_replay(reader.socket(), 0);
  EXPECT_EQ(read_replay(reader).size(), 4u);
  constexpr int kAsked = 200;
  for (int i = 0; i < kAsked; ++i) ask_replay(reader.socket(), 0);
  for (int i = 0; i < kAsked; ++i) {  // in turn with those
    ask_replay(other.socket(), 1000);
    EXPECT_TRUE(read_replay(other).empty());
  }
  int n_heard = 0;
  std::set<uint64_t> numbers;
  bool is_whole = false;
  reader.socket().set(zmq::sockopt::rcvtimeo, 100);
  for (int n_asked = 0; !is_whole && n_asked < 600;) {
    const auto parts = receive(reader.socket());
    if (parts.empty()) {
      ask_replay(reader.socket(), 0);
      ++n_asked;
      continue;
    }
    ++n_heard;
    const uint64_t number = sequence_of(parts[1]);
    if (number != ~uint64_t{0}) {
      numbers.insert(number);
      continue;
    }
    is_whole = n_asked > 0 && numbers.size() == 4;
    numbers.clear();
  }
  EXPECT_TRUE(is_whole) << "who has read all is told all";
  EXPECT_LT(n_heard, kAsked) << "of five messages for each";
}

TEST(KvEventPublisher, WhoAsksAndLeavesHarmsNobody) {
  const KvEventPublisherOptions options = publisher_options();
  const auto publisher = *KvEventPublisher::open(options);
  for (int i = 0; i < 20; ++i) {
    Reader reader(zmq::socket_type::dealer, options.replay_endpoint);
    reader.socket().set(zmq::sockopt::linger, 60'000);
    ask_replay(reader.socket(), 0);
  }
  EXPECT_TRUE(replay_from(options.replay_endpoint, 1000).empty());
}

TEST(KvEventPublisher, WhoDoesntReadMissesMessagesAndSeesIt) {
  KvEventPublisherOptions options = publisher_options();
  options.most_unread = 4;
  options.most_replayed = 1;
  const auto publisher = *KvEventPublisher::open(options);
  Reader reader(zmq::socket_type::sub, options.endpoint, 1);
  reader.socket().set(zmq::sockopt::rcvtimeo, 20);
  uint64_t n_heard = 0;
  /// Tells of a hash until it is heard; gives the number of the message.
  const auto hear = [&](uint64_t hash) {
    const std::vector<uint64_t> hashes = {hash};
    for (int i = 0; i < 3000;) {
      const auto parts = receive(reader.socket());
      if (parts.empty()) {
        publisher->removed(hashes);
        ++i;
        continue;
      }
      ++n_heard;
      const EventBody batch = EventBody::from_msgpack(parts[2].to_string());
      if (batch[1].back().size() > 1 && last_hash(batch) == hash) return sequence_of(parts[1]);
    }
    ADD_FAILURE() << "nothing of " << hash;
    return uint64_t{0};
  };
  const uint64_t first = hear(1000);
  n_heard = 0;
  fill_history(*publisher, options.replay_endpoint, 100);
  const uint64_t last = hear(1001);
  EXPECT_LT(n_heard, last - first) << "numbers are missing";
  EXPECT_LT(n_heard, 100u);
}

int open_without_files() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
  KvEventPublisherOptions options;
  options.endpoint = "inproc://nowhere";
  const auto opened = KvEventPublisher::open(options);
  return !opened && opened.error().code == ErrorCode::kIo ? 0 : 1;
}

TEST(KvEventPublisherDeathTest, TooManyFilesAreAnError) {
  if (testing::kIsSanitized) GTEST_SKIP() << "sanitizers look at an exception's type through a pipe";
  EXPECT_EXIT(_exit(open_without_files()), ::testing::ExitedWithCode(0), "");
}

TEST(KvEventPublisher, NobodyWaitsForASubscriberThatDoesntRead) {
  KvEventPublisherOptions options = publisher_options();
  options.most_queued_bytes = 1 << 16;
  options.linger = 10ms;
  const auto publisher = *KvEventPublisher::open(options);
  Reader reader(zmq::socket_type::sub, options.endpoint);
  const std::vector<int32_t> tokens(1024, 1);
  const std::vector<uint64_t> hashes(32, 2);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20'000; ++i) publisher->stored({"", std::nullopt, hashes, tokens, 32});
  EXPECT_LT(std::chrono::steady_clock::now() - start, 60s);
  const KvEventStats stats = publisher->stats();
  EXPECT_GE(stats.n_told + stats.n_dropped, 20'001u);
}

TEST(KvEventPublisher, AnEndpointThatIsNoneIsAnError) {
  for (const char* endpoint : {"", "nonsense", "tcp://*:notaport", "udp://*:1"}) {
    KvEventPublisherOptions options;
    options.endpoint = endpoint;
    const auto opened = KvEventPublisher::open(options);
    ASSERT_FALSE(opened) << endpoint;
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(opened.error().message, ::testing::HasSubstr(fmt::format("'{}'", endpoint)));
  }
}

}  // namespace
}  // namespace ferrox
