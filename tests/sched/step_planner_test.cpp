// Does a step hold every decoding request, and prompts in order of arrival for the rest?
#include "sched/step_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ferrox {
namespace {

constexpr SequenceWork kDecoding{SequencePhase::kDecode, 1};

SequenceWork prompt(int64_t n_rows) { return {SequencePhase::kPrefill, n_rows}; }

std::vector<std::pair<int32_t, int32_t>> plan(const std::vector<SequenceWork>& running, int32_t max_rows) {
  std::vector<std::pair<int32_t, int32_t>> out;
  for (const StepPart& part : plan_step(running, max_rows)) out.emplace_back(part.sequence, part.n_rows);
  return out;
}

using Parts = std::vector<std::pair<int32_t, int32_t>>;

TEST(StepPlanner, DecodeRowsComeFirst) {
  EXPECT_EQ(plan({prompt(100), kDecoding, prompt(3), kDecoding}, 8), (Parts{{0, 6}, {1, 1}, {3, 1}}));
}

TEST(StepPlanner, SeveralPromptsShareAStep) {
  EXPECT_EQ(plan({prompt(3), prompt(2), prompt(9)}, 10), (Parts{{0, 3}, {1, 2}, {2, 5}}));
}

TEST(StepPlanner, PromptsKeepTheTimeOfThoseThatDecode) {
  const std::vector<SequenceWork> running = {prompt(100), kDecoding, prompt(3), kDecoding};
  const auto paced = [&](int32_t rows) {
    Parts out;
    for (const StepPart& part : plan_step(running, 64, rows)) out.emplace_back(part.sequence, part.n_rows);
    return out;
  };
  EXPECT_EQ(paced(20), (Parts{{0, 18}, {1, 1}, {3, 1}}));
  EXPECT_EQ(paced(1), (Parts{{0, kLeastPromptRows}, {1, 1}, {3, 1}})) << "prompts go on, however slow a step is";
  EXPECT_EQ(plan_step(std::vector{prompt(100)}, 64, 20).front().n_rows, 64) << "nobody waits for a token";
}

TEST(StepPlanner, NothingRunsNothingPlanned) { EXPECT_TRUE(plan({}, 8).empty()); }

TEST(StepPlanner, EveryRandomScheduleEndsAndNobodyStarves) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int32_t max_rows = 1 + static_cast<int32_t>(random() % 20);
    std::vector<SequenceWork> running(1 + random() % static_cast<uint32_t>(max_rows));
    for (SequenceWork& work : running) work = random() % 2 == 0 ? kDecoding : prompt(1 + random() % 50);
    for (int step = 0; step < 2000; ++step) {
      const std::vector<StepPart> parts = plan_step(running, max_rows);
      int64_t n_rows = 0;
      for (const StepPart& part : parts) n_rows += part.n_rows;
      ASSERT_LE(n_rows, max_rows);
      ASSERT_GE(n_rows, 1);
      const auto decodes = [](const SequenceWork& work) { return work.phase == SequencePhase::kDecode; };
      const auto n_decoding = std::count_if(running.begin(), running.end(), decodes);
      int64_t n_decoding_parts = 0;
      for (const StepPart& part : parts) {
        SequenceWork& work = running[static_cast<size_t>(part.sequence)];
        n_decoding_parts += work.phase == SequencePhase::kDecode;
        ASSERT_LE(part.n_rows, work.n_pending_rows);
        if (work.phase == SequencePhase::kPrefill && (work.n_pending_rows -= part.n_rows) == 0) work = kDecoding;
      }
      ASSERT_EQ(n_decoding_parts, n_decoding) << "a decoding request was left out";
    }
    for (const SequenceWork& work : running) EXPECT_EQ(work.phase, SequencePhase::kDecode) << "a prompt starved";
  }
}

}  // namespace
}  // namespace ferrox
