// Is what callers have had shared out by their weights, and does nobody save up or get away with it?
#include "sched/fair_share.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace ferrox {
namespace {

TEST(FairShare, WhoHasHadLeastForItsWeightGoesFirst) {
  FairShare shares;
  shares.wait({"light", 1}, 10);
  shares.wait({"heavy", 2}, 10);
  shares.start("light", 1, 100);
  shares.start("heavy", 1, 150);
  EXPECT_TRUE(shares.goes_before("heavy", "light")) << "75 of its weight against 100";
  shares.start("heavy", 1, 100);
  EXPECT_TRUE(shares.goes_before("light", "heavy")) << "100 against 125";
  EXPECT_FALSE(shares.goes_before("heavy", "light"));
}

TEST(FairShare, WhatAnAnswerDidntTakeIsGivenBack) {
  FairShare shares;
  shares.wait({"a"}, 2);
  shares.wait({"b"}, 2);
  shares.start("a", 1, 1000);
  shares.start("b", 1, 100);
  shares.stop("a", 1000, 950);
  shares.stop("b", 100, 0);
  EXPECT_TRUE(shares.goes_before("a", "b")) << "50 tokens against 100";
}

/// What was paid in advance counts for whoever paid it, and isn't held against whoever comes later.
TEST(FairShare, WhoComesLaterIsBehindNobody) {
  FairShare shares;
  shares.wait({"greedy"}, 5);
  shares.start("greedy", 4, 40'000);
  shares.wait({"late"}, 1);
  EXPECT_TRUE(shares.goes_before("late", "greedy"));
  for (int i = 0; i < 4; ++i) shares.stop("greedy", 10'000, 9'900);
  EXPECT_TRUE(shares.goes_before("late", "greedy")) << "0 against 400";
}

TEST(FairShare, NobodySavesUpWhileItAsksForNothing) {
  FairShare shares;
  shares.wait({"busy"}, 3);
  shares.start("busy", 1, 10'000);
  shares.stop("busy", 10'000, 0);
  shares.wait({"new"}, 9);
  shares.start("new", 1, 10);
  EXPECT_TRUE(shares.goes_before("busy", "new")) << "it began where the other was";
}

/// Who leaves with more than the others had is remembered while they are there; when all are gone nothing is.
TEST(FairShare, ADebtOutlivesAPauseButNotAnIdleEngine) {
  FairShare shares;
  shares.wait({"a"}, 2);
  shares.wait({"b"}, 1);
  shares.start("b", 1, 500);
  shares.stop("b", 500, 0);
  shares.wait({"b"}, 1);
  EXPECT_TRUE(shares.goes_before("a", "b"));
  shares.leave("b", 1);
  shares.leave("a", 2);
  shares.wait({"a"}, 1);
  shares.wait({"b"}, 1);
  EXPECT_FALSE(shares.goes_before("a", "b")) << "nothing is remembered";
}

/// Each has something that waits, all the time: what they had differs by a request of each, however they cut it up.
TEST(FairShare, SharesFollowTheWeights) {
  std::mt19937 random(5);
  const std::vector<Caller> callers = {{"one", 1}, {"two", 2}, {"half", 0.5}, {"five", 5}};
  constexpr int64_t kLongest = 3000;
  FairShare shares;
  std::map<std::string, int64_t> had;
  for (const Caller& caller : callers) shares.wait(caller, 1);
  struct Running {
    std::string caller;
    int64_t n_tokens;
    int64_t n_unused;
  };
  std::vector<Running> running;
  for (int i = 0; i < 20'000; ++i) {
    const Caller* next = &callers.front();
    for (const Caller& caller : callers) {
      if (shares.goes_before(caller.name, next->name)) next = &caller;
    }
    const int64_t priced = 1 + static_cast<int64_t>(random() % kLongest);
    const int64_t used = 1 + static_cast<int64_t>(random()) % priced;
    shares.start(next->name, 1, priced);
    had[next->name] += used;
    shares.wait(*next, 1);
    running.push_back({next->name, priced, priced - used});
    while (running.size() > random() % 12) {
      const size_t ended = random() % running.size();
      shares.stop(running[ended].caller, running[ended].n_tokens, running[ended].n_unused);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(ended));
    }
  }
  int64_t all = 0;
  for (const auto& [name, tokens] : had) all += tokens;
  for (const Caller& caller : callers) {
    const double share = static_cast<double>(had[caller.name]) / static_cast<double>(all);
    EXPECT_NEAR(share, caller.weight / 8.5, 0.02) << caller.name;
  }
}

}  // namespace
}  // namespace ferrox
