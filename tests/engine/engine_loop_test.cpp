// Does the engine thread serve every request to its end, the same whatever else runs?
#include "engine/engine_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "support/gate.h"
#include "support/loop_rig.h"

namespace ferrox {
namespace {

using testing::EventLog;
using testing::FakeModel;
using testing::Gate;
using ::testing::HasSubstr;
using testing::judge_ids;
using testing::kEndToken;
using testing::make_request;
using testing::Rig;
using testing::RigShape;

TEST(EngineLoop, AnswersAsTheTokenLoopAloneDoes) {
  Rig rig;
  const GenerationRequest request = make_request({1, 2, 3, 4, 5}, 20);
  EventLog log = rig.submit(request);
  EXPECT_EQ(log.ids(), judge_ids(request, 20));
  const DoneEvent done = log.done();
  EXPECT_EQ(done.reason, FinishReason::kLength);
  EXPECT_EQ(done.usage.prompt_tokens, 5);
  EXPECT_EQ(done.usage.completion_tokens, 20);
  EXPECT_EQ(done.usage.cached_tokens, 0) << "a miss";
  EXPECT_TRUE(done.usage.time_to_first_token_ms);
  rig.expect_at_rest();
}

TEST(EngineLoop, TellsOfEachChunkOfAPrompt) {
  Rig rig({.n_parallel = 2, .batch_rows = 4});
  EventLog log = rig.submit(make_request(std::vector<int32_t>(10, 1), 2));
  std::vector<int64_t> processed;
  for (const Event& event : log.wait()) {
    if (const auto* progress = std::get_if<PromptProgressEvent>(&event)) {
      processed.push_back(progress->n_processed);
      EXPECT_EQ(progress->n_prompt, 10);
    }
  }
  EXPECT_EQ(processed, (std::vector<int64_t>{4, 8, 10}));
}

// O6, and the promise behind it: neighbours, chunks, page sizes and cancellations change nothing.
TEST(EngineLoop, TheSameTextWhateverElseRuns) {
  std::vector<GenerationRequest> requests;
  for (uint64_t i = 0; i < 24; ++i) {
    std::vector<int32_t> prompt(1 + i * 5 % 23);
    for (size_t j = 0; j < prompt.size(); ++j) prompt[j] = static_cast<int32_t>((i * 7 + j * j) % 60);
    requests.push_back(make_request(prompt, static_cast<int64_t>(1 + i * 3 % 17), i));
    if (i % 5 == 0) requests.back().sampling.temperature = 0;
    if (i % 3 == 0) requests.back().sampling.repeat_penalty = 1.3f;
    if (i % 7 == 0) requests.back().sampling.mirostat = 2;
  }
  for (const RigShape& shape :
       {RigShape{}, RigShape{.page_rows = 1, .n_pages = 300, .n_parallel = 1, .batch_rows = 1},
        RigShape{.page_rows = 16, .n_pages = 6, .n_parallel = 8, .batch_rows = 9},
        RigShape{.page_rows = 64, .n_pages = 40, .n_parallel = 16, .batch_rows = 64},
        RigShape{.page_rows = 2, .batch_rows = 5, .window = 3, .slide_interval = 1},
        RigShape{.n_parallel = 1, .storage = KvStorage::kContiguous},
        RigShape{.n_parallel = 1, .batch_rows = 3, .window = 4, .storage = KvStorage::kContiguous}}) {
    Rig rig(shape);
    std::vector<EventLog> logs;
    for (const GenerationRequest& request : requests) {
      EventLog neighbour = rig.submit(make_request({9, 9, 9}, 30));
      logs.push_back(rig.submit(request));
      rig.loop->cancel(rig.last_id - 1);
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(logs[i].ids(), judge_ids(requests[i], *requests[i].max_tokens)) << "request " << i;
    }
    rig.expect_at_rest();
  }
}

// A1: four requests that together are larger than the store; all are served to their end.
TEST(EngineLoop, WhatDoesntFitNowWaitsAndIsServedInFull) {
  Rig rig({.page_rows = 4, .n_pages = 24, .context_length = 96, .n_parallel = 4});
  std::vector<EventLog> logs;
  for (int32_t i = 0; i < 4; ++i) logs.push_back(rig.submit(make_request(std::vector<int32_t>(30, i), 40)));
  for (EventLog& log : logs) {
    EXPECT_EQ(log.done().reason, FinishReason::kLength);
    EXPECT_EQ(log.ids().size(), 40u);
  }
  rig.expect_at_rest();
}

// A2: what can never fit is refused once, with the arithmetic; nothing spins on it.
TEST(EngineLoop, WhatNeverFitsIsRefusedBeforeAnyWork) {
  Rig rig({.page_rows = 4, .n_pages = 8, .context_length = 128});
  EventLog log;
  const Error error = rig.loop->submit(make_request(std::vector<int32_t>(30, 1), 40), log.sink()).error();
  EXPECT_EQ(error.code, ErrorCode::kMemoryBudget);
  EXPECT_THAT(error.message, HasSubstr("70 positions > 32 positions"));
  EXPECT_FALSE(log.ended());
  EXPECT_EQ(rig.loop->status().n_steps, 0u);
  EventLog longer;
  EXPECT_FALSE(rig.loop->submit(make_request(std::vector<int32_t>(200, 1), 1), longer.sink()));
  EXPECT_EQ(rig.loop->status().refused.too_large, 1u);
  EXPECT_EQ(rig.loop->status().refused.too_long, 1u);
  EventLog small = rig.submit(make_request({1}, 3));
  EXPECT_EQ(small.done().reason, FinishReason::kLength);
}

/// Answers far longer than the window's pages: they are used again and again, and the text stays the judge's.
TEST(EngineLoop, SlidingPagesAreRecycledUnderWay) {
  Rig rig({.page_rows = 2, .n_pages = 120, .context_length = 240, .batch_rows = 8, .window = 5, .slide_interval = 4});
  std::vector<GenerationRequest> requests;
  std::vector<EventLog> logs;
  for (int32_t i = 0; i < 5; ++i) {
    requests.push_back(make_request(std::vector<int32_t>(static_cast<size_t>(3 + 9 * i), i), 180, 7));
    logs.push_back(rig.submit(requests.back()));
  }
  for (size_t i = 0; i < logs.size(); ++i) EXPECT_EQ(logs[i].ids(), judge_ids(requests[i], 180)) << i;
  rig.expect_at_rest();
}

/// Sixteen requests of 512 + 512 tokens on a store for eight: all are served whole, eight at a time.
TEST(EngineLoop, AStoreForEightServesSixteen) {
  Rig rig({.page_rows = 32,
           .n_pages = 8 * 32,
           .context_length = 1024,
           .n_parallel = 16,
           .batch_rows = 512,
           .trained_context = 1024});
  size_t most = 0;
  rig.model.on_forward = [&most](const Batch& batch) { most = std::max(most, batch.segments.size()); };
  std::vector<EventLog> logs;
  for (int32_t i = 0; i < 16; ++i) {
    logs.push_back(rig.submit(make_request(std::vector<int32_t>(512, i), 512, static_cast<uint64_t>(i))));
  }
  for (EventLog& log : logs) {
    EXPECT_EQ(log.done().reason, FinishReason::kLength);
    EXPECT_EQ(log.ids().size(), 512u);
  }
  EXPECT_EQ(most, 8u);
  rig.expect_at_rest();
}

/// A12: as many run as tokens are held, however many slots there are.
TEST(EngineLoop, ConcurrencyIsBoundedByPagesAlone) {
  Rig rig(
      {.page_rows = 4, .n_pages = 100, .context_length = 128, .n_parallel = 100, .batch_rows = 200, .max_queue = 200});
  Gate gate;
  size_t most = 0;
  rig.model.on_forward = [&](const Batch& batch) {
    gate.pass();
    most = std::max(most, batch.segments.size());
  };
  std::vector<EventLog> logs;
  for (int32_t i = 0; i < 150; ++i) logs.push_back(rig.submit(make_request({i % 60}, 3)));
  gate.open();
  for (EventLog& log : logs) EXPECT_EQ(log.done().reason, FinishReason::kLength);
  EXPECT_EQ(most, 100u);
  rig.expect_at_rest();
}

/// The question is answered by what answers the request, and changes nothing.
TEST(EngineLoop, AdmissionCanBeAskedWithoutRunning) {
  Gate gate;
  Rig rig({.page_rows = 4, .n_pages = 12, .context_length = 64});
  const std::vector<int32_t> prompt(10, 1);
  const AdmissionAnswer answer = *rig.loop->ask_admission(prompt, 20);
  EXPECT_EQ(answer.n_prompt, 10);
  EXPECT_EQ(answer.max_tokens, 20);
  EXPECT_EQ(answer.n_positions, 30);
  EXPECT_EQ(answer.most_positions, 48);
  EXPECT_EQ(answer.kv_bytes * 12, answer.kv_bytes_limit * 8);
  EXPECT_TRUE(answer.runs_now);
  EXPECT_EQ(rig.loop->ask_admission(prompt, -1).error().message,
            rig.loop->submit(make_request(prompt, -1), EventLog().sink()).error().message);
  EXPECT_EQ(rig.loop->ask_admission(std::vector<int32_t>(64, 1), 1).error().code, ErrorCode::kContextLength);
  const std::vector<int32_t> outside = {FakeModel::kVocab};
  EXPECT_EQ(rig.loop->ask_admission(outside, 1).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(rig.loop->status().refused.too_large, 1u) << "only the request was counted";
  EXPECT_EQ(rig.loop->status().refused.too_long, 0u);

  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog holder = rig.submit(make_request({1}, 40));
  gate.wait_for_arrivals(1);
  EXPECT_FALSE(rig.loop->ask_admission(prompt, 20)->runs_now) << "it would wait";
  gate.open();
  EXPECT_EQ(holder.done().reason, FinishReason::kLength);
  rig.expect_at_rest();
}

TEST(EngineLoop, OneAttemptThenAClearRefusal) {
  Gate gate;
  Rig rig({.page_rows = 4, .n_pages = 8, .context_length = 32});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog holder = rig.submit(make_request({1, 2}, 30));
  gate.wait_for_arrivals(1);
  GenerationRequest hasty = make_request({3}, 4);
  hasty.timeout_ms = 0;
  EventLog refused = rig.submit(hasty);
  gate.open();
  const Error error = refused.error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("no room before the deadline"));
  EXPECT_EQ(rig.loop->status().refused.no_room, 1u);
  EXPECT_EQ(holder.done().reason, FinishReason::kLength);
  rig.expect_at_rest();
  EventLog admitted = rig.submit(hasty);
  EXPECT_EQ(admitted.done().reason, FinishReason::kLength) << "with room, one attempt is enough";
}

// A6: the bound of the queue is exact, however fast requests come.
TEST(EngineLoop, TheQueueIsBoundedExactly) {
  Gate gate;
  Rig rig({.n_parallel = 1, .max_queue = 2});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  std::vector<EventLog> accepted;
  int n_refused = 0;
  for (int i = 0; i < 10; ++i) {
    EventLog log;
    const Result<RequestId> id = rig.loop->submit(make_request({1}, 2), log.sink());
    if (id) accepted.push_back(log);
    if (id) continue;
    ++n_refused;
    EXPECT_EQ(id.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(id.error().message, "queue is full: 2 requests wait, at most 2 may");
  }
  EXPECT_EQ(n_refused, 7) << "one runs, two wait";
  EXPECT_EQ(rig.loop->status().refused.queue_full, 7u);
  gate.open();
  for (EventLog& log : accepted) EXPECT_EQ(log.done().reason, FinishReason::kLength);
}

// D1, D2: a cancelled request stops within a step, also inside its prompt.
TEST(EngineLoop, ACancelledPromptStopsWithinAStep) {
  Gate gate;
  Rig rig({.n_parallel = 2, .batch_rows = 4});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog log = rig.submit(make_request(std::vector<int32_t>(100, 1), 5));
  gate.wait_for_arrivals(1);
  rig.loop->cancel(rig.last_id);
  gate.permit(1);
  const DoneEvent done = log.done();
  EXPECT_EQ(done.reason, FinishReason::kCancelled);
  EXPECT_EQ(done.usage.completion_tokens, 0);
  gate.open();
  rig.expect_at_rest();
  EXPECT_EQ(rig.loop->status().n_steps, 0u) << "nobody wanted what the pass computed";
}

// What a pass that is given up leaves in pages and states is never taken for what was computed.
TEST(EngineLoop, WhoComesAfterAPassThatWasGivenUpIsAnsweredAlike) {
  for (const RigShape& shape : {RigShape{.batch_rows = 8}, RigShape{.batch_rows = 8, .window = 5},
                                RigShape{.batch_rows = 8, .state = FakeModel::State::kRecurrent},
                                RigShape{.n_parallel = 1, .batch_rows = 8, .storage = KvStorage::kContiguous}}) {
    Gate gate;
    Rig rig(shape);
    rig.model.on_forward = [&](const Batch&) { gate.pass(); };
    std::vector<int32_t> prompt(30);
    for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i * i % 60);
    EventLog cancelled = rig.submit(make_request(prompt, 5));
    gate.permit(1);
    gate.wait_for_arrivals(2);
    rig.loop->cancel(rig.last_id);
    gate.open();
    EXPECT_EQ(cancelled.done().reason, FinishReason::kCancelled);
    EXPECT_EQ(rig.loop->status().n_steps, 1u);
    const GenerationRequest again = make_request(prompt, 12);
    EXPECT_EQ(rig.submit(again).ids(), judge_ids(again, 12));
    rig.expect_at_rest();
  }
}

TEST(EngineLoop, APassThatOthersWantIsNotGivenUp) {
  Gate gate;
  Rig rig;
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  const GenerationRequest request = make_request({1, 2, 3}, 6);
  EventLog log = rig.submit(request);
  gate.wait_for_arrivals(1);
  EventLog cancelled = rig.submit(make_request({4, 5, 6}, 6));
  gate.permit(1);
  gate.wait_for_arrivals(2);  // a step of both
  rig.loop->cancel(rig.last_id);
  gate.open();
  EXPECT_EQ(cancelled.done().reason, FinishReason::kCancelled);
  EXPECT_EQ(log.ids(), judge_ids(request, 6));
  rig.expect_at_rest();
  EXPECT_EQ(rig.loop->status().n_steps, 6u);
}

TEST(EngineLoop, APromptIsGivenUpWhenNoneOfItsChoicesIsWanted) {
  for (const size_t n_cancelled : {2u, 3u}) {
    Gate gate;
    Rig rig;
    rig.model.on_forward = [&](const Batch&) { gate.pass(); };
    Rig::Submitted choices = rig.submit_all(std::vector<GenerationRequest>(3, make_request({1, 2, 3}, 4)));
    gate.wait_for_arrivals(1);
    for (size_t i = 0; i < n_cancelled; ++i) rig.loop->cancel(choices.ids[i]);
    gate.open();
    EXPECT_EQ(choices.logs[2].done().reason, n_cancelled == 3 ? FinishReason::kCancelled : FinishReason::kLength);
    rig.expect_at_rest();
    EXPECT_EQ(rig.loop->status().n_steps, n_cancelled == 3 ? 0u : 4u);
  }
}

TEST(EngineLoop, ACancelledAnswerStopsWithinAStep) {
  Gate gate;
  Rig rig;
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EventLog log = rig.submit(make_request({1, 2, 3}, 50));
  gate.permit(4);
  gate.wait_for_arrivals(5);  // inside the fifth step
  rig.loop->cancel(rig.last_id);
  rig.loop->cancel(rig.last_id);
  gate.open();
  EXPECT_EQ(log.done().reason, FinishReason::kCancelled);
  EXPECT_EQ(log.ids().size(), 4u);
  rig.loop->cancel(rig.last_id);
  rig.loop->cancel(987654);
  rig.expect_at_rest();
}

// D3: a request that is cancelled while it waits disturbs nobody.
TEST(EngineLoop, CancellingAQueuedRequestLeavesTheRunningOneAlone) {
  Gate gate;
  Rig rig({.n_parallel = 1});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  const GenerationRequest request = make_request({4, 5, 6}, 12);
  EventLog running = rig.submit(request);
  gate.wait_for_arrivals(1);
  EventLog queued = rig.submit(make_request({7}, 12));
  rig.loop->cancel(rig.last_id);
  gate.open();
  EXPECT_EQ(queued.done().reason, FinishReason::kCancelled);
  EXPECT_EQ(running.ids(), judge_ids(request, 12));
  rig.expect_at_rest();
}

TEST(EngineLoop, OneRequestsFailureIsItsOwn) {
  Rig rig;
  const GenerationRequest good = make_request({1, 2}, 20);
  EventLog first = rig.submit(good);
  EventLog poisoned = rig.submit(make_request({5, FakeModel::kPoison}, 20));
  EventLog second = rig.submit(good);
  EXPECT_EQ(poisoned.error().message, "model gave no finite logits");
  EXPECT_EQ(first.ids(), judge_ids(good, 20));
  EXPECT_EQ(second.ids(), judge_ids(good, 20));
  rig.expect_at_rest();
}

// X1, X2, X3: at the end of the context an answer ends with `length`; nothing shifts, nothing goes on for ever.
TEST(EngineLoop, AnswersEndAtTheContext) {
  Rig rig({.context_length = 32});
  for (const int64_t max_tokens : {int64_t{-1}, int64_t{1000000}}) {
    EventLog log = rig.submit(make_request({1, 2, 3}, max_tokens));
    EXPECT_EQ(log.done().reason, FinishReason::kLength);
    EXPECT_EQ(log.ids().size(), 29u);
  }
  GenerationRequest unlimited = make_request({1}, 0);
  unlimited.max_tokens.reset();
  EventLog log = rig.submit(unlimited);
  EXPECT_EQ(log.ids().size(), 16u) << "the default limit";
}

TEST(EngineLoop, AStepNeverAsksMoreLogitRowsThanRequestsRun) {
  size_t most = 0;
  Rig rig({.n_pages = 200, .n_parallel = 3, .batch_rows = 32});
  rig.model.on_forward = [&](const Batch& batch) {
    most = std::max(most, batch.logit_rows.size());
    size_t n_rows = 0;
    for (const BatchSegment& segment : batch.segments) n_rows += static_cast<size_t>(segment.n_rows);
    EXPECT_EQ(n_rows, batch.tokens.size());
    EXPECT_LE(n_rows, 32u);
    EXPECT_LE(batch.logit_rows.size(), batch.segments.size());
  };
  std::vector<EventLog> logs;
  for (int32_t i = 0; i < 10; ++i) logs.push_back(rig.submit(make_request(std::vector<int32_t>(20, i), 10)));
  for (EventLog& log : logs) log.wait();
  EXPECT_LE(most, 3u);
}

TEST(EngineLoop, DrainingRefusesTheNewAndFinishesTheOld) {
  Rig rig;
  EventLog log = rig.submit(make_request({1}, 30));
  rig.loop->drain();
  EventLog late;
  EXPECT_EQ(rig.loop->submit(make_request({1}, 3), late.sink()).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(rig.loop->wait_idle(60000));
  EXPECT_EQ(log.done().reason, FinishReason::kLength);
}

TEST(EngineLoop, DestructionCancelsWhatRunsAndWhatWaits) {
  Gate gate;
  EventLog running;
  EventLog queued;
  {
    Rig rig({.n_parallel = 1});
    rig.model.on_forward = [&](const Batch&) { gate.pass(); };
    running = rig.submit(make_request({1}, 100));
    gate.wait_for_arrivals(1);
    queued = rig.submit(make_request({2}, 100));
    EXPECT_FALSE(rig.loop->wait_idle(0));
    gate.open();
  }
  EXPECT_TRUE(running.ended());
  EXPECT_TRUE(queued.ended());
}

TEST(EngineLoop, ASinkMayCallTheEngine) {
  Rig rig;
  EventLog inner;
  EventLog outer;
  const auto sink = [&, forward = outer.sink()](Event event) {
    if (std::holds_alternative<TokenEvent>(event) && !inner.ended() && rig.loop->status().n_running == 1) {
      EXPECT_TRUE(rig.loop->submit(make_request({2}, 1), inner.sink()));
    }
    forward(std::move(event));
  };
  ASSERT_TRUE(rig.loop->submit(make_request({1}, 1), sink));
  EXPECT_EQ(outer.done().reason, FinishReason::kLength);
  EXPECT_EQ(inner.done().reason, FinishReason::kLength);
}

/// Random submissions and cancellations; whoever isn't cancelled must get the judge's answer.
void run_random_schedule(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int32_t>(random() % n); };
  const int32_t n_parallel = 1 + below(6);
  Rig rig({.page_rows = 1 + below(9),
           .n_pages = 20 + below(60),
           .context_length = 20 + below(80),
           .n_parallel = n_parallel,
           .batch_rows = n_parallel + below(20),
           .max_queue = 1 + below(12),
           .window = below(2) * (1 + below(12)),
           .slide_interval = below(12)});
  struct Pending {
    GenerationRequest request;
    RequestId id;
    EventLog log;
    bool cancelled;
  };
  std::vector<Pending> pending;
  for (int step = 0; step < 60; ++step) {
    if (!pending.empty() && below(4) == 0) {
      Pending& victim = pending[random() % pending.size()];
      rig.loop->cancel(victim.id);
      victim.cancelled = true;
      continue;
    }
    std::vector<int32_t> prompt(static_cast<size_t>(1 + below(30)));
    for (int32_t& token : prompt) token = below(62);
    const int64_t max_tokens = below(20);
    std::vector<GenerationRequest> requests;
    for (int i = below(3) == 0 ? below(5) : 0; i >= 0; --i) {
      requests.push_back(make_request(prompt, max_tokens, random()));
    }
    const Rig::Submitted submitted = rig.submit_all(requests);
    for (size_t i = 0; i < submitted.ids.size(); ++i) {
      pending.push_back({requests[i], submitted.ids[i], submitted.logs[i], false});
    }
  }
  for (Pending& p : pending) {
    const std::vector<int32_t> ids = p.log.ids();
    const DoneEvent done = p.log.done();
    const std::vector<int32_t> want = judge_ids(p.request, done.usage.completion_tokens);
    EXPECT_EQ(ids, want) << "seed " << seed << " request " << p.id;
    EXPECT_TRUE(p.cancelled || done.reason != FinishReason::kCancelled);
  }
  rig.expect_at_rest();
}

TEST(EngineLoop, RandomSchedulesGiveTheirPagesBack) {
  for (uint32_t seed = 0; seed < 150; ++seed) run_random_schedule(seed);
}

/// The end of an engine is at hand however many wait.
TEST(EngineLoop, AHundredThousandThatWaitAreCancelledAtOnce) {
  constexpr int kWaiting = 100'000;
  Gate gate;
  Rig rig({.n_parallel = 1, .max_queue = kWaiting + 1});
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  int n_ended = 0;
  const GenerationRequest request = make_request({1, 2, 3}, 100);
  for (int i = 0; i <= kWaiting; ++i) {
    const auto id = rig.loop->submit(
        request, [&n_ended](const Event& event) { n_ended += std::holds_alternative<DoneEvent>(event); });
    ASSERT_TRUE(id) << id.error().message;
  }
  gate.wait_for_arrivals(1);
  gate.open();
  rig.loop.reset();
  EXPECT_EQ(n_ended, kWaiting + 1);
}

TEST(EngineLoop, ManyThreadsMaySubmitAndCancel) {
  Rig rig({.n_pages = 100, .n_parallel = 8, .batch_rows = 32, .max_queue = 1000});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&rig, t] {
      for (uint32_t i = 0; i < 50; ++i) {
        EventLog log;
        const GenerationRequest request = make_request({static_cast<int32_t>(t), static_cast<int32_t>(i % 60)}, 8, i);
        const RequestId id = *rig.loop->submit(request, log.sink());
        if (i % 3 == 0) rig.loop->cancel(id);
        EXPECT_TRUE(i % 3 != 1 || log.ids() == judge_ids(request, 8));
        rig.loop->status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  rig.expect_at_rest();
}

}  // namespace
}  // namespace ferrox
