// Whose turn is it, is nobody passed over for ever, and is the queue free of those that waited too long?
#include "sched/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "sched/naive_queue.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;

TimePoint at(int seconds) { return TimePoint() + std::chrono::seconds(seconds); }

std::optional<int64_t> nothing_cached(uint64_t) { return 0; }

/// Takes all in turn, n_tokens each.
std::vector<uint64_t> turns(RequestQueue& queue, const RequestQueue::CachedLength& cached = nothing_cached,
                            int64_t n_tokens = 10) {
  std::vector<uint64_t> order;
  for (;;) {
    queue.begin_round();
    const auto id = queue.next(cached);
    if (!id) return order;
    queue.take(*id, n_tokens);
    order.push_back(*id);
  }
}

QueuedRequest of(uint64_t id, const std::string& caller, int32_t priority = 0, double weight = 1) {
  return {.id = id, .caller = {caller, weight}, .priority = priority};
}

TEST(RequestQueue, OneCallersRequestsGoFirstInFirstOut) {
  RequestQueue queue;
  EXPECT_FALSE(queue.next(nothing_cached));
  for (uint64_t id = 1; id <= 5; ++id) queue.push({.id = id});
  EXPECT_TRUE(queue.remove_one(2));
  EXPECT_FALSE(queue.remove_one(2));
  EXPECT_THAT(turns(queue), ElementsAre(1, 3, 4, 5));
  EXPECT_TRUE(queue.empty());
}

TEST(RequestQueue, ChoicesThatAreAdmittedTogetherCountOneByOne) {
  RequestQueue queue;
  queue.push({.id = 1, .n_choices = 3});
  queue.push({.id = 4});
  EXPECT_TRUE(queue.remove_one(1));
  EXPECT_EQ(queue.next(nothing_cached), 1u) << "the others keep its place";
  EXPECT_TRUE(queue.remove_one(1));
  EXPECT_TRUE(queue.remove_one(1));
  EXPECT_EQ(queue.next(nothing_cached), 4u);
}

TEST(RequestQueue, DeadlinesPass) {
  RequestQueue queue;
  queue.push({.id = 1, .deadline = at(5)});
  queue.push({.id = 2});
  queue.push({.id = 3, .deadline = at(4), .caller = {"other"}});
  EXPECT_THAT(queue.take_expired(at(3)), ElementsAre());
  EXPECT_THAT(queue.take_expired(at(5)), ElementsAre(1, 3));
  EXPECT_THAT(turns(queue), ElementsAre(2));
  EXPECT_THAT(queue.take_expired(at(1000)), ElementsAre());
}

// A3: the fifty jobs of one caller don't stand before the one of another.
TEST(RequestQueue, CallersTakeTurns) {
  RequestQueue queue;
  for (uint64_t id = 1; id <= 50; ++id) queue.push(of(id, "many"));
  queue.push(of(51, "one"));
  queue.push(of(52, "one"));
  const std::vector<uint64_t> order = turns(queue);
  EXPECT_THAT(std::vector<uint64_t>(order.begin(), order.begin() + 5), ElementsAre(1, 51, 2, 52, 3));
}

TEST(RequestQueue, ALowerPriorityNumberGoesFirst) {
  RequestQueue queue;
  queue.push(of(1, "a", 5));
  queue.push(of(2, "a"));
  queue.push(of(3, "b", -2));
  queue.push(of(4, "a", -2));
  EXPECT_THAT(turns(queue), ElementsAre(3, 4, 2, 1));
}

TEST(RequestQueue, WhatIsCachedGoesFirst) {
  RequestQueue queue;
  for (uint64_t id = 1; id <= 4; ++id) queue.push({.id = id});
  const std::map<uint64_t, int64_t> cached = {{1, 0}, {2, 30}, {3, 100}, {4, 30}};
  EXPECT_THAT(turns(queue, [&](uint64_t id) { return cached.at(id); }), ElementsAre(3, 2, 4, 1));
}

TEST(RequestQueue, OnlyTheFirstOfALineAreCompared) {
  RequestQueue queue;
  for (uint64_t id = 1; id <= 20; ++id) queue.push({.id = id});
  std::set<uint64_t> asked;
  const auto cached = [&](uint64_t id) {
    EXPECT_TRUE(asked.insert(id).second) << "once in a round";
    return static_cast<int64_t>(id);
  };
  EXPECT_EQ(queue.next(cached), 8u);
  EXPECT_EQ(queue.next(cached), 8u);
  EXPECT_EQ(queue.next(cached, 1), 1u);
  EXPECT_EQ(asked.size(), 8u);
}

TEST(RequestQueue, NobodyIsPassedOverMoreThanFourTimes) {
  RequestQueue queue;
  queue.push({.id = 1});
  for (uint64_t id = 2; id <= 9; ++id) queue.push({.id = id});
  const std::vector<uint64_t> order = turns(queue, [](uint64_t id) { return id == 1 ? 0 : 100; });
  EXPECT_THAT(order, ElementsAre(2, 3, 4, 5, 1, 6, 7, 8, 9));
}

TEST(RequestQueue, WhoLetsOthersPassIsntPassedOver) {
  RequestQueue queue;
  for (uint64_t id = 1; id <= 20; ++id) queue.push({.id = id});
  bool one_waits = true;
  const auto cached = [&](uint64_t id) -> std::optional<int64_t> {
    if (one_waits && id == 1) return std::nullopt;
    return id == 20 ? 50 : 0;
  };
  for (uint64_t id = 2; id <= 11; ++id) {
    queue.begin_round();
    ASSERT_EQ(queue.next(cached), id);
    queue.take(id, 1);
  }
  one_waits = false;
  queue.begin_round();
  EXPECT_EQ(queue.next([](uint64_t id) { return id == 12 ? 9 : 0; }), 12u) << "it was never passed over";
}

TEST(RequestQueue, WhoWasParkedIsFirstOfItsLine) {
  RequestQueue queue;
  for (uint64_t id = 1; id <= 3; ++id) queue.push({.id = id});
  queue.begin_round();
  queue.take(*queue.next(nothing_cached), 10);
  queue.stop("", 10, 4);
  queue.push_parked({.id = 1});
  EXPECT_EQ(queue.n_parked(), 1);
  EXPECT_THAT(turns(queue, [](uint64_t id) { return static_cast<int64_t>(id); }), ElementsAre(1, 3, 2));
}

/// Everybody is served in the end, nobody of a line is passed over too often, whatever comes, leaves and is cached.
TEST(RequestQueue, RandomLoadsAreServed) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    RequestQueue queue;
    std::set<uint64_t> waiting;
    std::map<uint64_t, std::string> caller_of;
    std::map<uint64_t, int> n_passed;
    std::vector<uint64_t> running;
    uint64_t next_id = 1;
    for (int i = 0; i < 300; ++i) {
      if (i < 200 && random() % 2 == 0) {
        const std::string caller(1, static_cast<char>('a' + random() % 3));
        queue.push(of(next_id, caller, 0, 1 + random() % 3));
        caller_of[next_id] = caller;
        waiting.insert(next_id++);
      }
      if (random() % 10 == 0 && !waiting.empty()) {
        ASSERT_TRUE(queue.remove_one(*waiting.begin()));
        waiting.erase(waiting.begin());
      }
      if (random() % 3 == 0 && !running.empty()) {
        queue.stop(caller_of[running.back()], 50, static_cast<int64_t>(random() % 50));
        running.pop_back();
      }
      queue.begin_round();
      const auto id = queue.next([&](uint64_t) { return static_cast<int64_t>(random() % 4); });
      ASSERT_EQ(id.has_value(), !waiting.empty());
      if (!id) continue;
      queue.take(*id, 50);
      running.push_back(*id);
      waiting.erase(*id);
      for (const uint64_t older : waiting) {
        if (older < *id && caller_of[older] == caller_of[*id]) {
          ASSERT_LE(++n_passed[older], RequestQueue::kMostPassedOver);
        }
      }
    }
    EXPECT_TRUE(waiting.empty());
    EXPECT_TRUE(queue.empty());
  }
}

/// Whatever comes, leaves, expires, is parked and is cached: the same as when all are looked at.
TEST(RequestQueue, DoesWhatTheNaiveOneDoes) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    RequestQueue queue;
    testing::NaiveQueue naive;
    std::vector<QueuedRequest> running;
    uint64_t next_id = 1;
    for (int i = 0; i < 300; ++i) {
      const uint32_t what = random() % 8;
      if (what < 3) {
        QueuedRequest request = of(next_id++, std::string(1, static_cast<char>('a' + random() % 3)),
                                   static_cast<int32_t>(random() % 3), 1 + random() % 3);
        request.n_choices = 1 + static_cast<int32_t>(random() % 3);
        if (random() % 3 == 0) request.deadline = at(i + static_cast<int>(random() % 40));
        queue.push(request);
        naive.push(request);
      } else if (what == 3) {
        const uint64_t id = random() % next_id;
        ASSERT_EQ(queue.remove_one(id), naive.remove_one(id));
      } else if (what == 4 && !running.empty()) {
        QueuedRequest request = running.back();
        running.pop_back();
        for (int32_t choice = 0; choice < request.n_choices; ++choice) {
          queue.stop(request.caller.name, 20, 5);
          naive.stop(request.caller.name, 20, 5);
        }
        request.n_choices = 1;
        if (random() % 2 == 0) {
          queue.push_parked(request);
          naive.push_parked(request);
        }
      } else if (what == 5) {
        ASSERT_EQ(queue.take_expired(at(i)), naive.take_expired(at(i)));
      } else {
        const auto cached = [salt = random()](uint64_t id) -> std::optional<int64_t> {
          const auto n = static_cast<int64_t>((id * 7919 + salt) % 5);
          return n == 4 ? std::nullopt : std::optional(n);
        };
        queue.begin_round();
        naive.begin_round();
        const auto id = queue.next(cached, 4);
        ASSERT_EQ(id, naive.next(cached, 4));
        if (!id) continue;
        const QueuedRequest taken = *naive.request(*id);
        queue.take(*id, 20 * taken.n_choices);
        naive.take(*id, 20 * taken.n_choices);
        running.push_back(taken);
      }
      ASSERT_EQ(queue.empty(), naive.empty());
      ASSERT_EQ(queue.n_parked(), naive.n_parked());
    }
  }
}

/// A line that lets others pass isn't asked to its end at every step.
TEST(RequestQueue, AsManyAreAskedHoweverManyWait) {
  RequestQueue queue;
  for (uint64_t id = 1; id <= 100'000; ++id) queue.push({.id = id, .deadline = at(int(id))});
  size_t n_asked = 0;
  for (int step = 0; step < 100; ++step) {
    queue.begin_round();
    EXPECT_FALSE(queue.next([&](uint64_t) -> std::optional<int64_t> {
      ++n_asked;
      return std::nullopt;
    }));
    EXPECT_THAT(queue.take_expired(at(0)), ElementsAre());
    EXPECT_EQ(queue.n_parked(), 0);
  }
  EXPECT_EQ(n_asked, 100 * RequestQueue::kMostAsked);
  for (uint64_t id = 100'000; id > 0; --id) ASSERT_TRUE(queue.remove_one(id));
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace ferrox
