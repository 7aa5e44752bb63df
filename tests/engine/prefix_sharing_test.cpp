// Do requests share what they have in common, and does nobody notice but by the time it takes?
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>

#include "engine/random_prompt.h"
#include "kv/prefix_pins.h"
#include "support/gate.h"
#include "support/loop_rig.h"

namespace ferrox {
namespace {

using testing::EventLog;
using testing::FakeModel;
using testing::judge_ids;
using testing::make_request;
using testing::random_prompt;
using testing::Rig;
using testing::RigShape;

std::vector<int32_t> joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A rig that counts the rows of its passes.
struct CountingRig : Rig {
  explicit CountingRig(const RigShape& shape) : Rig(shape) {
    model.on_forward = [this](const Batch& batch) { n_rows += static_cast<int64_t>(batch.tokens.size()); };
  }
  std::atomic<int64_t> n_rows = 0;
};

void expect_answer(EventLog& log, const GenerationRequest& request) {
  ASSERT_FALSE(log.wait().empty());
  EXPECT_EQ(log.ids(), judge_ids(request, *request.max_tokens));
}

// C1, C2: with sliding windows as without, and no option asks for it.
TEST(PrefixSharing, ASecondTurnComputesItsNewTokens) {
  for (const int window : {0, 6}) {
    CountingRig rig({.window = window});
    const GenerationRequest first = make_request(random_prompt(30, 1), 10);
    EventLog log = rig.submit(first);
    expect_answer(log, first);
    EXPECT_EQ(log.done().usage.cached_tokens, 0);
    const std::vector<int32_t> history = joined(first.prompt, log.ids());
    const GenerationRequest second = make_request(joined(history, random_prompt(7, 2)), 5);
    rig.n_rows = 0;
    EventLog next = rig.submit(second);
    expect_answer(next, second);
    EXPECT_EQ(next.done().usage.cached_tokens, 39) << "the last token of an answer is computed when it is needed";
    EXPECT_EQ(rig.n_rows, 8 + 4);
    rig.expect_at_rest();
  }
}

TEST(PrefixSharing, AMissSaysWhereAndWhy) {
  Rig rig;
  const GenerationRequest first = make_request(random_prompt(20, 1), 2);
  EventLog log = rig.submit(first);
  expect_answer(log, first);
  ASSERT_TRUE(log.done().usage.prefix_end);
  EXPECT_EQ(log.done().usage.prefix_end->position, 0);
  GenerationRequest second = first;
  second.prompt[11] = 60;
  EventLog other = rig.submit(second);
  expect_answer(other, second);
  const Usage usage = other.done().usage;
  EXPECT_EQ(usage.cached_tokens, 11);
  ASSERT_TRUE(usage.prefix_end);
  EXPECT_EQ(usage.prefix_end->miss, PrefixMiss::kDiverged);
  EXPECT_EQ(usage.prefix_end->position, 11);
  EXPECT_EQ(usage.prefix_end->token, 60);
}

TEST(PrefixSharing, WithoutACacheNothingIsReported) {
  Rig rig({.caching = PrefixCaching::kOff});
  const GenerationRequest request = make_request(random_prompt(20, 1), 2);
  for (int i = 0; i < 2; ++i) {
    EventLog log = rig.submit(request);
    expect_answer(log, request);
    EXPECT_FALSE(log.done().usage.cached_tokens);
    EXPECT_FALSE(log.done().usage.prefix_end);
  }
  EXPECT_EQ(rig.loop->status().n_pages_cached, 0);
}

TEST(PrefixSharing, ARequestMayKeepOut) {
  CountingRig rig({});
  GenerationRequest request = make_request(random_prompt(20, 1), 2);
  request.use_prefix_cache = false;
  EventLog log = rig.submit(request);
  expect_answer(log, request);
  EXPECT_EQ(rig.loop->status().n_pages_cached, 0) << "it leaves nothing";
  request.use_prefix_cache = true;
  EventLog kept = rig.submit(request);
  expect_answer(kept, request);
  request.use_prefix_cache = false;
  rig.n_rows = 0;
  EventLog again = rig.submit(request);
  expect_answer(again, request);
  EXPECT_EQ(rig.n_rows, 20 + 1) << "and takes nothing";
}

// C13: what others asked is not found out by timing.
TEST(PrefixSharing, NamespacesAreApart) {
  Rig rig;
  GenerationRequest request = make_request(random_prompt(20, 1), 2);
  request.cache_space = "one";
  EventLog log = rig.submit(request);
  expect_answer(log, request);
  request.cache_space = "two";
  EventLog other = rig.submit(request);
  expect_answer(other, request);
  EXPECT_EQ(other.done().usage.cached_tokens, 0);
}

/// Requests that arrive while the first computes what they share.
TEST(PrefixSharing, ThoseThatArriveTogetherComputeTheirPrefixOnce) {
  for (const int kind : {0, 6, -1}) {
    SCOPED_TRACE(kind);
    testing::Gate gate;
    CountingRig rig({.n_pages = 100,
                     .n_parallel = 8,
                     .batch_rows = 16,
                     .window = std::max(kind, 0),
                     .state = kind < 0 ? FakeModel::State::kRecurrent : FakeModel::State::kNone,
                     .n_states = 40});
    const std::vector<int32_t> prefix = random_prompt(66, 1);
    std::vector<GenerationRequest> requests;
    for (int32_t i = 0; i < 16; ++i) requests.push_back(make_request(joined(prefix, random_prompt(5, 100 + i)), 3));
    std::vector<EventLog> logs;
    rig.loop->post([&](KvMemory&) { gate.pass(); });  // none is begun before all are there
    for (const GenerationRequest& request : requests) logs.push_back(rig.submit(request));
    gate.open();
    for (size_t i = 0; i < logs.size(); ++i) expect_answer(logs[i], requests[i]);
    // The first computes 66 + 5, the others 5 and at most a page of what they share; each 2 rows of its answer.
    EXPECT_LE(rig.n_rows, 66 + 16 * (5 + 2) + 15 * 1);
    rig.expect_at_rest();
  }
}

TEST(PrefixSharing, WhenTheFirstIsCancelledAnotherComputesThePrefix) {
  testing::Gate gate;
  Rig rig({.n_pages = 100, .batch_rows = 8});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  const std::vector<int32_t> prefix = random_prompt(60, 1);
  const GenerationRequest first = make_request(joined(prefix, random_prompt(5, 2)), 3);
  const GenerationRequest second = make_request(joined(prefix, random_prompt(5, 3)), 3);
  EventLog first_log = rig.submit(first);
  const RequestId first_id = rig.last_id;
  EventLog second_log = rig.submit(second);
  rig.loop->cancel(first_id);
  gate.open();
  ASSERT_FALSE(first_log.wait().empty());
  EXPECT_EQ(first_log.done().reason, FinishReason::kCancelled);
  expect_answer(second_log, second);
  rig.expect_at_rest();
}

// C11: a cache that is full never keeps a request waiting, whatever it is full of.
TEST(PrefixSharing, AFullCacheGivesWay) {
  for (const RigShape& shape : std::vector<RigShape>{
           {.n_pages = 12, .context_length = 40},
           {.n_pages = 24, .context_length = 40, .window = 6},
           {.n_pages = 12, .context_length = 40, .state = FakeModel::State::kRecurrent, .n_states = 5},
       }) {
    Rig rig(shape);
    for (int32_t i = 0; i < 40; ++i) {
      const GenerationRequest request = make_request(random_prompt(12, i), 4);
      EventLog log = rig.submit(request);
      expect_answer(log, request);
      const EngineStatus status = rig.loop->status();
      EXPECT_EQ(status.n_pages_free + status.n_pages_cached, status.n_pages_total);
    }
  }
}

/// A request that can't wait for room can't wait for a prefix either.
TEST(PrefixSharing, WhoCantWaitComputesItsPrefixItself) {
  testing::Gate gate;
  Rig rig({.n_pages = 100, .batch_rows = 8});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  const std::vector<int32_t> prefix = random_prompt(60, 1);
  const GenerationRequest first = make_request(joined(prefix, random_prompt(5, 2)), 3);
  GenerationRequest second = make_request(joined(prefix, random_prompt(5, 3)), 3);
  second.timeout_ms = 0;
  EventLog first_log = rig.submit(first);
  gate.wait_for_arrivals(1);
  EventLog second_log = rig.submit(second);
  gate.open();
  expect_answer(first_log, first);
  expect_answer(second_log, second);
  rig.expect_at_rest();
}

// C3, C5, C6: a recurrent model too, by token, at second sight.
TEST(PrefixSharing, ARecurrentModelGoesOnBehindASnapshot) {
  CountingRig rig({.state = FakeModel::State::kRecurrent});
  const GenerationRequest first = make_request(random_prompt(30, 1), 6);
  EventLog log = rig.submit(first);
  expect_answer(log, first);
  EventLog repeated = rig.submit(first);
  expect_answer(repeated, first);
  EXPECT_EQ(repeated.done().usage.cached_tokens, 29) << "at second sight";
  const GenerationRequest second = make_request(joined(joined(first.prompt, log.ids()), random_prompt(7, 2)), 5);
  EventLog next = rig.submit(second);
  expect_answer(next, second);
  EXPECT_EQ(next.done().usage.cached_tokens, 35);
  rig.expect_at_rest();
}

/// The state is past the rows of the step in which its request was cancelled: what is left to others says so.
TEST(PrefixSharing, ACancelDuringAStepLeavesTheStateOfItsRows) {
  for (const int n_steps : {1, 2, 3, 5}) {
    Rig rig({.batch_rows = 8, .state = FakeModel::State::kRecurrent});
    std::atomic<int> n_left = n_steps;
    const GenerationRequest request = make_request(random_prompt(20, 1), 6);
    testing::Gate gate;
    rig.model.on_forward = [&](const Batch&) {
      gate.pass();
      if (--n_left == 0) rig.loop->cancel(rig.last_id);
    };
    EventLog cancelled = rig.submit(request);
    gate.open();
    ASSERT_FALSE(cancelled.wait().empty());
    EXPECT_EQ(cancelled.done().reason, FinishReason::kCancelled);
    EventLog log = rig.submit(request);
    expect_answer(log, request);
    const GenerationRequest longer = make_request(joined(random_prompt(20, 1), judge_ids(request, 6)), 3);
    EventLog next = rig.submit(longer);
    expect_answer(next, longer);
    rig.expect_at_rest();
  }
}

/// C10: aborted requests give back every kind of what they held.
TEST(PrefixSharing, CancelledRequestsLeakNoStates) {
  Rig rig({.n_pages = 60, .state = FakeModel::State::kRecurrent, .n_states = 5});
  for (int32_t i = 0; i < 60; ++i) {
    EventLog log = rig.submit(make_request(random_prompt(20, i % 7), 8));
    rig.loop->cancel(rig.last_id);
    ASSERT_FALSE(log.wait().empty());
  }
  const GenerationRequest request = make_request(random_prompt(20, 3), 8);
  EventLog log = rig.submit(request);
  expect_answer(log, request);
  rig.expect_at_rest();
}

/// Random conversations that begin alike, branch, are cancelled and meet a store that holds few of them.
TEST(PrefixSharing, RandomSchedulesGiveTheJudgesAnswers) {
  for (const int window : {0, 6}) {
    for (uint32_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(fmt::format("window {}, seed {}", window, seed));
      Rig rig({.n_pages = seed % 2 == 0 ? 90 : 40,
               .batch_rows = 12,
               .window = window,
               .slide_interval = 8,
               .state = seed > 4 ? FakeModel::State::kRecurrent : FakeModel::State::kNone,
               .n_states = seed > 6 ? 20 : 5});
      std::mt19937 random(seed);
      std::vector<std::vector<int32_t>> histories = {random_prompt(20, 1)};
      std::vector<std::pair<GenerationRequest, EventLog>> sent;
      std::vector<bool> is_cancelled;
      for (int i = 0; i < 150; ++i) {
        std::vector<int32_t> prompt = histories[random() % histories.size()];
        prompt.resize(std::min<size_t>(prompt.size(), 1 + random() % 60));
        prompt =
            joined(prompt, random_prompt(1 + static_cast<int32_t>(random() % 9), static_cast<int32_t>(random() % 6)));
        histories.push_back(prompt);
        const GenerationRequest request = make_request(prompt, 1 + static_cast<int64_t>(random() % 12), random());
        sent.emplace_back(request, rig.submit(request));
        is_cancelled.push_back(random() % 5 == 0);
        if (is_cancelled.back()) rig.loop->cancel(rig.last_id);
        if (random() % 3 == 0) {
          ASSERT_FALSE(sent[random() % sent.size()].second.wait().empty());
        }
      }
      for (size_t i = 0; i < sent.size(); ++i) {
        auto& [request, log] = sent[i];
        ASSERT_FALSE(log.wait().empty());
        const std::vector<int32_t> judge = judge_ids(request, *request.max_tokens);
        const std::vector<int32_t> got = log.ids();
        if (!is_cancelled[i]) {
          EXPECT_EQ(got, judge);
          log.done();
        }
        EXPECT_TRUE(std::equal(got.begin(), got.end(), judge.begin()));
      }
      rig.expect_at_rest();
    }
  }
}

/// What is pinned can be gone on behind, whatever kind of model it is, when all else had to go.
TEST(PrefixSharing, APinKeepsAPlaceToGoOnFrom) {
  for (const RigShape& shape : std::vector<RigShape>{
           {.n_pages = 40},
           {.n_pages = 40, .window = 6},
           {.n_pages = 40, .state = FakeModel::State::kRecurrent, .n_states = 6},
       }) {
    Rig rig(shape);
    const std::vector<int32_t> prefix = random_prompt(30, 1);
    std::promise<int64_t> n_pinned;
    ASSERT_TRUE(rig.loop->post([&](KvMemory& kv) {
      n_pinned.set_value(static_cast<int64_t>(kv.pins()->add("", prefix, std::nullopt)->tokens.size()));
    }));
    ASSERT_EQ(n_pinned.get_future().get(), 28) << "whole pages";
    const GenerationRequest request = make_request(joined(prefix, random_prompt(40, 2)), 3);
    EventLog first = rig.submit(request);
    expect_answer(first, request);
    for (int32_t i = 0; i < 30; ++i) {
      const GenerationRequest other = make_request(random_prompt(60, 100 + i), 3);
      EventLog log = rig.submit(other);
      expect_answer(log, other);
    }
    EventLog again = rig.submit(request);
    expect_answer(again, request);
    EXPECT_EQ(again.done().usage.cached_tokens, 28) << "window " << shape.window;
    rig.expect_at_rest();
  }
}

TEST(PrefixSharing, ClearingForgetsWhatNobodyUses) {
  Rig rig;
  const GenerationRequest request = make_request(random_prompt(20, 1), 2);
  EventLog log = rig.submit(request);
  expect_answer(log, request);
  std::promise<std::optional<PrefixCacheReport>> before;
  std::promise<std::optional<PrefixCacheReport>> after;
  ASSERT_TRUE(rig.loop->post([&](KvMemory& kv) { before.set_value(kv.cache_report(10)); }));
  const auto full = before.get_future().get();
  ASSERT_TRUE(full && full->nodes.size() == 1);
  EXPECT_EQ(full->nodes[0].n_tokens, 21);
  EXPECT_EQ(full->currencies[0].n_pages, 6u);
  ASSERT_TRUE(rig.loop->post([&](KvMemory& kv) {
    kv.clear_cache();
    after.set_value(kv.cache_report(10));
  }));
  EXPECT_EQ(after.get_future().get()->n_tokens, 0u);
}

}  // namespace
}  // namespace ferrox
