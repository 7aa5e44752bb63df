// Do answers to one prompt share it, and is each the answer that it would have been alone?
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "support/gate.h"
#include "support/loop_rig.h"

namespace ferrox {
namespace {

using testing::EventLog;
using testing::Gate;
using testing::judge_ids;
using testing::make_request;
using testing::Rig;
using testing::RigShape;

std::vector<GenerationRequest> choices_of(size_t n_prompt, int64_t max_tokens, uint64_t n_choices) {
  std::vector<int32_t> prompt(n_prompt);
  for (size_t i = 0; i < n_prompt; ++i) prompt[i] = static_cast<int32_t>(i * i % 60);
  std::vector<GenerationRequest> requests;
  for (uint64_t seed = 0; seed < n_choices; ++seed) {
    requests.push_back(make_request(prompt, max_tokens, 100 + seed));
    // What one of them does to its logits must not reach the others.
    requests.back().sampling.logit_bias.emplace_back(static_cast<int32_t>(seed), 4.0f);
  }
  return requests;
}

void expect_judged(const std::vector<GenerationRequest>& requests, std::vector<EventLog>& logs) {
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(logs[i].ids(), judge_ids(requests[i], *requests[i].max_tokens)) << "choice " << i;
    EXPECT_EQ(logs[i].done().usage.prompt_tokens, static_cast<int64_t>(requests[i].prompt.size()));
  }
}

TEST(Choices, OnePromptIsComputedOnceAndItsPagesAreShared) {
  Rig rig({.page_rows = 4, .n_pages = 40, .context_length = 64, .n_parallel = 4, .batch_rows = 16});
  int64_t n_rows = 0;
  int64_t most_pages = 0;
  size_t most_segments = 0;
  rig.model.on_forward = [&](const Batch& batch) {
    n_rows += static_cast<int64_t>(batch.tokens.size());
    most_segments = std::max(most_segments, batch.segments.size());
    const EngineStatus status = rig.loop->status();
    most_pages = std::max(most_pages, status.n_pages_total - status.n_pages_free - status.n_pages_cached);
    EXPECT_EQ(status.n_running, 4);
  };
  const std::vector<GenerationRequest> requests = choices_of(42, 10, 4);
  Rig::Submitted submitted = rig.submit_all(requests);
  ASSERT_EQ(submitted.ids.size(), 4u);
  expect_judged(requests, submitted.logs);
  EXPECT_EQ(n_rows, 42 + 4 * 9) << "the prompt once; the last token of an answer isn't computed";
  EXPECT_EQ(most_segments, 4u) << "side by side";
  EXPECT_EQ(most_pages, 10 + 4 * 3) << "alone each would hold 13";
  rig.expect_at_rest();
}

TEST(Choices, AreWhatTheyWouldBeAlone) {
  for (const RigShape& shape :
       {RigShape{.page_rows = 1, .n_pages = 600, .n_parallel = 8}, RigShape{.page_rows = 16, .n_pages = 80},
        RigShape{.page_rows = 2, .n_pages = 300, .batch_rows = 5, .window = 3, .slide_interval = 1},
        RigShape{.page_rows = 4, .n_pages = 200, .window = 9, .slide_interval = 4},
        RigShape{.page_rows = 64, .n_pages = 20, .batch_rows = 64}}) {
    Rig rig(shape);
    for (const size_t n_prompt : {1, 4, 16, 37, 48}) {
      const std::vector<GenerationRequest> requests = choices_of(n_prompt, 60, 4);
      Rig::Submitted submitted = rig.submit_all(requests);
      ASSERT_EQ(submitted.ids.size(), 4u);
      expect_judged(requests, submitted.logs);
    }
    rig.expect_at_rest();
  }
}

/// What doesn't fit side by side runs one after the other, as it did before there were shared pages.
TEST(Choices, ThatTheStoreOrTheSlotsDontHoldRunApart) {
  Rig small_store({.page_rows = 4, .n_pages = 16, .context_length = 64, .n_parallel = 4});
  Rig few_slots({.page_rows = 4, .n_pages = 64, .context_length = 64, .n_parallel = 2});
  Rig one_sequence({.context_length = 64, .n_parallel = 1, .storage = KvStorage::kContiguous});
  for (Rig* rig : {&small_store, &few_slots, &one_sequence}) {
    const std::vector<GenerationRequest> requests = choices_of(30, 30, 4);
    Rig::Submitted submitted = rig->submit_all(requests);
    ASSERT_EQ(submitted.ids.size(), 4u);
    expect_judged(requests, submitted.logs);
    rig->expect_at_rest();
  }
}

TEST(Choices, CanBeAskedFor) {
  Rig rig({.page_rows = 4, .n_pages = 24, .context_length = 64, .n_parallel = 4});
  const std::vector<int32_t> prompt(42, 1);
  EXPECT_TRUE(rig.loop->ask_admission(prompt, 10, 4)->runs_now) << "22 pages";
  EXPECT_FALSE(rig.loop->ask_admission(prompt, 20, 4)->runs_now) << "10 + 4 * 6";
  EXPECT_TRUE(rig.loop->ask_admission(prompt, 20, 2)->runs_now);
  EXPECT_FALSE(rig.loop->ask_admission(prompt, 1, 5)->runs_now) << "five slots";
}

TEST(Choices, AreQueuedAllOrNone) {
  Gate gate;
  Rig rig({.page_rows = 4, .n_pages = 64, .context_length = 64, .n_parallel = 2, .max_queue = 2});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog holder = rig.submit(make_request({1}, 4));
  gate.wait_for_arrivals(1);
  Rig::Submitted two = rig.submit_all(choices_of(5, 3, 2));
  EXPECT_EQ(two.ids.size(), 2u);
  EXPECT_EQ(rig.loop->status().n_queued, 2);
  EXPECT_TRUE(rig.submit_all(choices_of(5, 3, 2)).ids.empty()) << "one more may wait, not two";
  EXPECT_EQ(rig.loop->status().n_queued, 2);
  EXPECT_EQ(rig.loop->status().refused.queue_full, 1u);
  Rig::Submitted apart = rig.submit_all(choices_of(5, 3, 3));
  EXPECT_TRUE(apart.ids.empty()) << "three don't run side by side, and only one of them may wait";
  EXPECT_EQ(rig.loop->status().n_queued, 2);
  gate.open();
  expect_judged(choices_of(5, 3, 2), two.logs);
  rig.expect_at_rest();
  for (const EventLog& log : apart.logs) EXPECT_FALSE(log.ended()) << "who was refused hears nothing";
}

TEST(Choices, OfDifferentPromptsAreQueuedAllOrNone) {
  Gate gate;
  Rig rig({.page_rows = 4, .n_pages = 64, .context_length = 64, .n_parallel = 2, .max_queue = 2});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog holder = rig.submit(make_request({1}, 4));
  gate.wait_for_arrivals(1);
  std::vector<GenerationRequest> requests;
  for (size_t n_prompt = 5; n_prompt < 9; ++n_prompt) requests.push_back(choices_of(n_prompt, 3, 1).front());
  EXPECT_TRUE(rig.submit_all(requests).ids.empty()) << "three have room";
  EXPECT_EQ(rig.loop->status().n_queued, 0);
  requests.pop_back();
  Rig::Submitted three = rig.submit_all(requests);
  EXPECT_EQ(three.ids.size(), 3u);
  gate.open();
  expect_judged(requests, three.logs);
  rig.expect_at_rest();
}

TEST(Choices, MoreThanMayRunAndWaitAreNoMatterOfTime) {
  Rig rig({.n_parallel = 2, .max_queue = 2});
  EXPECT_TRUE(rig.loop->check_number(4));
  EXPECT_EQ(rig.loop->check_number(5).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(rig.loop->check_number(5).error().message, "expected at most 4 answers at once (2 run, 2 wait), found 5");
  EXPECT_TRUE(rig.submit_all(choices_of(5, 3, 5)).ids.empty());
  EXPECT_EQ(rig.loop->status().refused.queue_full, 0u);
  EXPECT_EQ(rig.loop->ask_admission(std::vector<int32_t>{1}, 3, 5).error().code, ErrorCode::kInvalidArgument);
}

/// Two groups that are admitted by the same look at the queue take a slot for each of their choices.
TEST(Choices, TakeASlotEach) {
  Gate gate;
  Rig rig({.page_rows = 4, .n_pages = 200, .context_length = 64, .n_parallel = 4});
  size_t most = 0;
  rig.model.on_forward = [&](const Batch& batch) {
    gate.pass();
    most = std::max(most, batch.segments.size());
    EXPECT_LE(rig.loop->status().n_running, 4);
  };
  EventLog holder = rig.submit(make_request({1}, 1));
  gate.wait_for_arrivals(1);
  const std::vector<GenerationRequest> requests = choices_of(5, 20, 3);
  Rig::Submitted first = rig.submit_all(requests);
  Rig::Submitted second = rig.submit_all(requests);
  gate.open();
  expect_judged(requests, first.logs);
  expect_judged(requests, second.logs);
  EXPECT_EQ(most, 3u) << "the second group waits for the first";
  rig.expect_at_rest();
}

/// Whichever of them is cancelled, whenever: the others' answers stay what they are.
TEST(Choices, OneThatIsCancelledLeavesTheOthersAlone) {
  for (size_t victim = 0; victim < 4; ++victim) {
    for (const int n_steps_before : {0, 1, 2, 3, 6}) {  // waiting, inside the prompt, at its end, answering
      Gate gate;
      Rig rig({.page_rows = 4, .n_pages = 40, .context_length = 64, .n_parallel = 4, .batch_rows = 16, .window = 6});
      rig.model.on_forward = [&](const Batch&) { gate.pass(); };
      EventLog holder = rig.submit(make_request({1}, 1));
      gate.wait_for_arrivals(1);
      const std::vector<GenerationRequest> requests = choices_of(42, 10, 4);
      Rig::Submitted submitted = rig.submit_all(requests);
      gate.permit(n_steps_before);
      gate.wait_for_arrivals(1 + n_steps_before);
      rig.loop->cancel(submitted.ids[victim]);
      gate.open();
      for (size_t i = 0; i < 4; ++i) {
        if (i == victim) continue;
        EXPECT_EQ(submitted.logs[i].ids(), judge_ids(requests[i], 10)) << victim << " " << n_steps_before << " " << i;
      }
      EXPECT_EQ(submitted.logs[victim].done().reason, FinishReason::kCancelled) << n_steps_before;
      rig.expect_at_rest();
    }
  }
}

TEST(Choices, AllOfThemMayBeCancelledWhileTheyWait) {
  Gate gate;
  Rig rig({.n_parallel = 2});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog holder = rig.submit(make_request({1}, 4));
  gate.wait_for_arrivals(1);
  Rig::Submitted submitted = rig.submit_all(choices_of(5, 3, 2));
  for (const RequestId id : submitted.ids) rig.loop->cancel(id);
  gate.open();
  for (EventLog& log : submitted.logs) EXPECT_EQ(log.done().reason, FinishReason::kCancelled);
  EXPECT_EQ(holder.done().reason, FinishReason::kLength);
  rig.expect_at_rest();
}

TEST(Choices, DeadlinesEndAllOfThem) {
  Gate gate;
  Rig rig({.n_parallel = 2});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog holder = rig.submit(make_request({1}, 4));
  gate.wait_for_arrivals(1);
  std::vector<GenerationRequest> requests = choices_of(5, 3, 2);
  for (GenerationRequest& request : requests) request.timeout_ms = 0;
  Rig::Submitted submitted = rig.submit_all(requests);
  gate.open();
  for (EventLog& log : submitted.logs) EXPECT_EQ(log.error().code, ErrorCode::kUnavailable);
  rig.loop->wait_idle(60000);
  EXPECT_EQ(rig.loop->status().refused.no_room, 2u);
  rig.expect_at_rest();
}

TEST(Choices, EachLeavesItsAnswerToTheNextTurn) {
  for (const int window : {0, 6}) {
    Rig rig({.n_pages = 80, .context_length = 64, .window = window});
    const std::vector<GenerationRequest> requests = choices_of(42, 10, 3);
    Rig::Submitted submitted = rig.submit_all(requests);
    expect_judged(requests, submitted.logs);
    for (size_t i = 0; i < requests.size(); ++i) {
      std::vector<int32_t> history = requests[i].prompt;
      const std::vector<int32_t> answer = submitted.logs[i].ids();
      history.insert(history.end(), answer.begin(), answer.end());
      EventLog next = rig.submit(make_request(history, 1));
      EXPECT_EQ(next.done().usage.cached_tokens, 51) << "choice " << i << ", window " << window;
    }
    rig.expect_at_rest();
  }
}

}  // namespace
}  // namespace ferrox
