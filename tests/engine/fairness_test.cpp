// Does everybody get a share, and does whoever gives up a place for a while end with the same answer?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "support/gate.h"
#include "support/loop_rig.h"

namespace ferrox {
namespace {

using testing::EventLog;
using testing::FakeModel;
using testing::Gate;
using testing::judge_ids;
using testing::make_request;
using testing::Rig;
using testing::RigShape;

GenerationRequest job_of(const std::string& caller, size_t n_prompt, int64_t max_tokens, int32_t salt = 0) {
  std::vector<int32_t> prompt(n_prompt);
  for (size_t i = 0; i < n_prompt; ++i) prompt[i] = static_cast<int32_t>((i * i + i * 3) % 58);
  prompt.front() = salt % 58;  // nothing of it is shared with another
  GenerationRequest request = make_request(std::move(prompt), max_tokens, static_cast<uint64_t>(salt) + 1);
  request.caller = {caller};
  return request;
}

/// A rig whose passes can be held, with jobs that run in it.
struct BusyRig : Rig {
  explicit BusyRig(const RigShape& shape) : Rig(shape) {
    model.on_forward = [this](const Batch&) {
      gate.pass();
      ++n_steps;
    };
  }

  ~BusyRig() { gate.open(); }

  void add(GenerationRequest request) {
    logs.push_back(submit(request));
    requests.push_back(std::move(request));
  }

  /// Steps from now to the first token of a request.
  int steps_to_first_token(const GenerationRequest& request) {
    std::atomic<int> at = -1;
    const int before = n_steps;
    EventLog log;
    const auto sink = [&, inner = log.sink()](Event event) {
      if (std::holds_alternative<TokenEvent>(event) && at < 0) at = n_steps.load();
      inner(std::move(event));
    };
    EXPECT_TRUE(loop->submit(request, sink));
    gate.open();
    EXPECT_EQ(log.ids(), judge_ids(request, *request.max_tokens));
    return at - before;
  }

  void expect_all_answered() {
    gate.open();
    for (size_t i = 0; i < logs.size(); ++i) {
      EXPECT_EQ(logs[i].ids(), judge_ids(requests[i], *requests[i].max_tokens)) << i;
      EXPECT_EQ(logs[i].done().usage.completion_tokens, *requests[i].max_tokens) << i;
    }
    expect_at_rest();
    EXPECT_EQ(loop->status().n_parked, 0);
  }

  Gate gate;
  std::atomic<int> n_steps = 0;
  std::vector<GenerationRequest> requests;
  std::vector<EventLog> logs;
};

// A3: one caller's jobs fill every slot, and more wait; another's "hi" starts at once all the same.
TEST(Fairness, AHiStartsAtOnceBesideTwoHundredJobs) {
  BusyRig rig({.n_pages = 200, .n_parallel = 4, .max_queue = 300});
  for (int32_t i = 0; i < 200; ++i) rig.add(job_of("many", 20, 30, i));
  rig.gate.permit(20);
  rig.gate.wait_for_arrivals(21);
  EXPECT_EQ(rig.loop->status().n_running, 4);
  EXPECT_LE(rig.steps_to_first_token(job_of("one", 3, 2)), 2) << "the step that runs, and its own";
  EXPECT_GE(rig.loop->status().n_parks, 1u);
  rig.expect_all_answered();
}

// A4: the store is full, not the slots: as many are parked as it takes.
TEST(Fairness, AHiFindsRoomInAFullStore) {
  for (const int window : {0, 6}) {
    BusyRig rig({.n_pages = 60, .n_parallel = 8, .window = window});
    for (int32_t i = 0; i < 9; ++i) rig.add(job_of("many", 20, 40, i));
    rig.gate.permit(20);
    rig.gate.wait_for_arrivals(21);
    ASSERT_EQ(rig.loop->status().n_running, 4);
    EXPECT_LE(rig.steps_to_first_token(job_of("one", 5, 40)), 2);
    EXPECT_EQ(rig.loop->status().n_parks, 1u) << "no more than it takes";
    rig.expect_all_answered();
  }
}

TEST(Fairness, TheMoreUrgentGoesFirstAndTheOthersGoOnLater) {
  BusyRig rig({.n_parallel = 2});
  rig.add(job_of("a", 10, 50));
  rig.add(job_of("b", 10, 50, 1));
  rig.add(job_of("b", 10, 50, 2));
  rig.gate.permit(10);
  rig.gate.wait_for_arrivals(11);
  GenerationRequest urgent = job_of("a", 4, 3);
  urgent.priority = -1;
  EXPECT_LE(rig.steps_to_first_token(urgent), 2);
  EXPECT_EQ(rig.loop->status().n_parks, 1u);
  rig.expect_all_answered();
}

TEST(Fairness, WhoIsParkedComputesNothingAgain) {
  for (const FakeModel::State state : {FakeModel::State::kNone, FakeModel::State::kRecurrent}) {
    for (const int window : {0, 6}) {
      BusyRig rig({.n_pages = 200, .n_parallel = 2, .window = window, .state = state});
      std::atomic<int64_t> n_rows = 0;
      rig.model.on_forward = [&](const Batch& batch) {
        rig.gate.pass();
        n_rows += static_cast<int64_t>(batch.tokens.size());
      };
      rig.add(job_of("many", 20, 30, 1));
      rig.add(job_of("many", 21, 30, 2));
      rig.gate.permit(10);
      rig.gate.wait_for_arrivals(11);
      rig.add(job_of("one", 3, 2));
      rig.expect_all_answered();
      EXPECT_EQ(rig.loop->status().n_parks, 1u);
      EXPECT_EQ(n_rows, 20 + 29 + 21 + 29 + 3 + 1) << "the last token of an answer isn't computed; window " << window;
    }
  }
}

/// Without a cache a parked request computes everything again, once.
TEST(Fairness, NothingIsComputedAgainTwice) {
  BusyRig rig({.n_parallel = 2, .caching = PrefixCaching::kOff});
  rig.add(job_of("many", 20, 60, 1));
  rig.add(job_of("many", 20, 60, 2));
  rig.gate.permit(10);
  rig.gate.wait_for_arrivals(11);
  rig.gate.open();
  for (int32_t i = 0; i < 10; ++i) {
    const GenerationRequest hi = job_of("one", 3, 1, i);
    EXPECT_EQ(rig.submit(hi).ids(), judge_ids(hi, 1));
  }
  rig.expect_all_answered();
  EXPECT_LE(rig.loop->status().n_parks, 2u);
}

TEST(Fairness, AParkedRequestCanBeCancelled) {
  BusyRig rig({.n_parallel = 2});
  rig.add(job_of("many", 10, 50, 1));
  EventLog parked = rig.submit(job_of("many", 10, 50, 2));
  const RequestId id = rig.last_id;
  rig.gate.permit(10);
  rig.gate.wait_for_arrivals(11);
  rig.add(job_of("one", 3, 30));
  rig.gate.permit(2);
  rig.gate.wait_for_arrivals(13);
  ASSERT_EQ(rig.loop->status().n_parked, 1);
  EXPECT_FALSE(rig.loop->ask_admission(std::vector<int32_t>{1}, 1)->runs_now);
  rig.loop->cancel(id);
  rig.expect_all_answered();
  const DoneEvent done = parked.done();
  EXPECT_EQ(done.reason, FinishReason::kCancelled);
  EXPECT_EQ(done.usage.completion_tokens, static_cast<int64_t>(parked.ids().size()));
  EXPECT_GT(done.usage.completion_tokens, 5);
}

TEST(Fairness, ProgressIsToldOnce) {
  BusyRig rig({.n_parallel = 2, .batch_rows = 8});
  rig.add(job_of("many", 10, 20, 1));
  rig.add(job_of("many", 60, 20, 2));
  rig.gate.permit(3);
  rig.gate.wait_for_arrivals(4);
  rig.add(job_of("one", 3, 5));
  rig.expect_all_answered();
  ASSERT_GE(rig.loop->status().n_parks, 1u);
  int64_t last = 0;
  for (const Event& event : rig.logs[1].wait()) {
    const auto* progress = std::get_if<PromptProgressEvent>(&event);
    if (progress == nullptr) continue;
    EXPECT_GT(progress->n_processed, last);
    last = progress->n_processed;
  }
  EXPECT_EQ(last, 60);
}

/// Whoever comes, whatever they weigh, and however small the store is.
TEST(Fairness, RandomCallersGetTheirOwnAnswers) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    RigShape shape{.n_pages = 40 + static_cast<int32_t>(random() % 60), .n_parallel = 5, .max_queue = 200};
    if (seed % 3 == 1) shape.window = 6;
    if (seed % 4 == 2) shape.state = FakeModel::State::kRecurrent;
    if (seed % 5 == 4) shape.caching = PrefixCaching::kOff;
    Rig rig(shape);
    std::vector<GenerationRequest> requests;
    std::vector<EventLog> logs;
    std::vector<RequestId> cancelled;
    for (int32_t i = 0; i < 60; ++i) {
      const std::string caller(1, static_cast<char>('a' + random() % 4 * (random() % 2)));
      GenerationRequest request = job_of(caller, 1 + random() % 40, 1 + static_cast<int64_t>(random() % 30), i);
      request.caller.weight = 1 + random() % 3;
      request.priority = random() % 6 == 0 ? -1 : 0;
      logs.push_back(rig.submit(request));
      requests.push_back(std::move(request));
      if (random() % 8 == 0) {
        rig.loop->cancel(rig.last_id - random() % 3);
        cancelled.push_back(rig.last_id);
      }
      if (random() % 4 == 0) logs[random() % logs.size()].wait_for<TokenEvent>(1);
    }
    for (size_t i = 0; i < logs.size(); ++i) {
      const bool is_whole = logs[i].done().reason == FinishReason::kLength;
      const std::vector<int32_t> judge = judge_ids(requests[i], *requests[i].max_tokens);
      const std::vector<int32_t> ids = logs[i].ids();
      EXPECT_TRUE(!is_whole || ids == judge) << i;
      EXPECT_TRUE(std::equal(ids.begin(), ids.end(), judge.begin())) << i << ": what was sent of it is right";
    }
    rig.expect_at_rest();
  }
}

}  // namespace
}  // namespace ferrox
