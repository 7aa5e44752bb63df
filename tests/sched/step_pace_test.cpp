// Are steps as large as their time allows, on machines whose costs nobody told, and as they change?
#include "sched/step_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "sched/step_planner.h"

namespace ferrox {
namespace {

using CostMs = std::function<double(int64_t n_rows)>;

/// Reading the weights takes `floor_ms` however few the rows are; a row takes row_ms.
CostMs machine(double floor_ms, double row_ms) {
  return [=](int64_t n) { return std::max(floor_ms, row_ms * static_cast<double>(n)); };
}

/// The most rows that a machine has the time for.
int32_t best_rows(const CostMs& cost, double gap_ms, int32_t max_rows) {
  int32_t n = max_rows;
  while (n > kLeastPromptRows && cost(n) > gap_ms) --n;
  return n;
}

void run_steps(StepPace& pace, const CostMs& cost, int n_steps) {
  for (int i = 0; i < n_steps; ++i) pace.record(pace.most_rows(), cost(pace.most_rows()));
}

TEST(StepPace, WithoutALimitAStepIsWhole) {
  StepPace pace(0, 512);
  pace.record(512, 1e9);
  EXPECT_EQ(pace.most_rows(), 512);
}

TEST(StepPace, FindsTheSizeThatTheMachineHasTimeFor) {
  for (const double row_ms : {0.1, 0.45, 1.0, 3.0, 9.0, 40.0}) {
    for (const double floor_ms : {1.0, 30.0, 200.0}) {
      SCOPED_TRACE(row_ms);
      const CostMs cost = machine(floor_ms, row_ms);
      StepPace pace(250, 512);
      EXPECT_EQ(pace.most_rows(), kLeastPromptRows) << "nothing is known";
      for (int i = 0; i < 100; ++i) {
        const int32_t n = pace.most_rows();
        EXPECT_TRUE(n == kLeastPromptRows || cost(n) <= 250.001) << "not even while it looks for it: " << n;
        pace.record(n, cost(n));
      }
      const int32_t best = best_rows(cost, 250, 512);
      EXPECT_LE(pace.most_rows(), best);
      EXPECT_GE(pace.most_rows(), best * 8 / 10 - 1);
    }
  }
}

TEST(StepPace, FollowsAMachineThatBecomesSlowerAndFasterAgain) {
  StepPace pace(250, 512);
  const CostMs quiet = machine(30, 0.5);
  const CostMs busy = machine(60, 2.0);
  run_steps(pace, quiet, 20);
  EXPECT_GE(pace.most_rows(), 350);
  run_steps(pace, busy, 20);
  EXPECT_LE(pace.most_rows(), 130);
  EXPECT_GE(pace.most_rows(), 90);
  run_steps(pace, quiet, 60);
  EXPECT_GE(pace.most_rows(), 350);
}

TEST(StepPace, StepsOfDecodingAloneTellWhatSurelyFits) {
  StepPace pace(250, 512);
  for (int i = 0; i < 50; ++i) pace.record(4, 40);
  EXPECT_GE(pace.most_rows(), 21) << "25 rows take 250 ms at most";
  EXPECT_LE(pace.most_rows(), 25);
  pace.record(0, 40);
  pace.record(4, 0);
  EXPECT_LE(pace.most_rows(), 25) << "what measures nothing tells nothing";
}

TEST(StepPace, NoiseDoesNotStopIt) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0.9, 1.15);
  StepPace pace(250, 512);
  const CostMs cost = machine(30, 1.0);
  int n_over = 0;
  int64_t n_rows = 0;
  for (int i = 0; i < 1000; ++i) {
    const int32_t n = pace.most_rows();
    const double ms = cost(n) * noise(random);
    n_over += ms > 250 * 1.15;
    n_rows += n;
    pace.record(n, ms);
  }
  EXPECT_EQ(n_over, 0);
  EXPECT_GE(n_rows, 1000 * 180) << "250 would be the most";
}

TEST(StepPace, SmallBatchesAreNotExceeded) {
  for (const int32_t max_rows : {1, 5, 16, 17, 100}) {
    StepPace pace(250, max_rows);
    EXPECT_LE(pace.most_rows(), max_rows);
    for (int i = 0; i < 20; ++i) pace.record(pace.most_rows(), 1);
    EXPECT_EQ(pace.most_rows(), max_rows);
  }
}

}  // namespace
}  // namespace ferrox
