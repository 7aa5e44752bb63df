// Does bench read llama-bench's lists, and do its figures follow from the samples?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/bench_plan.h"
#include "cli/bench_report.h"

namespace ferrox {
namespace {

std::vector<int64_t> numbers(const std::string& text) {
  const auto parsed = parse_number_list(text);
  return parsed ? *parsed : std::vector<int64_t>{-1};
}

TEST(BenchPlan, ReadsListsAndRanges) {
  EXPECT_EQ(numbers("512"), (std::vector<int64_t>{512}));
  EXPECT_EQ(numbers("1,2,4"), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(numbers("16-19"), (std::vector<int64_t>{16, 17, 18, 19}));
  EXPECT_EQ(numbers("16-64+16"), (std::vector<int64_t>{16, 32, 48, 64}));
  EXPECT_EQ(numbers("16-128*2,7"), (std::vector<int64_t>{16, 32, 64, 128, 7}));
}

TEST(BenchPlan, RefusesWhatIsNoList) {
  for (const char* text :
       {"", "x", "1,", "-1", "1-", "1-9*1", "0-9*2", "1-9+0", "1-2-3", "1 2", "1-1000000", "99999999999"}) {
    EXPECT_FALSE(parse_number_list(text)) << text;
  }
}

TEST(BenchPlan, CrossesListsAndSkipsNothingToDo) {
  BenchLists lists;
  lists.n_prompt = "0,64";
  lists.n_gen = "8";
  lists.prompt_gen = {"32,4"};
  lists.n_depth = "0,100";
  lists.n_threads = "1,2";
  const auto tests = plan_bench(lists);
  ASSERT_TRUE(tests);
  std::vector<std::string> names;
  for (const auto& test : *tests) names.push_back(bench_test_name(test) + "/" + std::to_string(test.n_threads));
  EXPECT_EQ(names, (std::vector<std::string>{"pp64/1", "tg8/1", "pp32+tg4/1", "pp64 @ d100/1", "tg8 @ d100/1",
                                             "pp32+tg4 @ d100/1", "pp64/2", "tg8/2", "pp32+tg4/2", "pp64 @ d100/2",
                                             "tg8 @ d100/2", "pp32+tg4 @ d100/2"}));
}

BenchRow row_of_samples() {
  return BenchRow{{100, 0, 0, 2}, "2025-01-01T00:00:00Z", {100'000'000, 200'000'000, 400'000'000}};
}

TEST(BenchReport, FiguresFollowFromSamples) {
  const auto json = nlohmann::json::parse(format_bench({}, {row_of_samples()}, BenchFormat::kJson));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["samples_ts"], (std::vector<double>{1000, 500, 250}));
  EXPECT_DOUBLE_EQ(json[0]["median_ts"].get<double>(), 500);
  EXPECT_NEAR(json[0]["avg_ts"].get<double>(), 1750 / 3.0, 1e-6);
  EXPECT_NEAR(json[0]["stddev_ts"].get<double>(), 381.8813079129867, 1e-6);
  EXPECT_EQ(json[0]["n_prompt"], 100);
  EXPECT_EQ(json[0]["n_threads"], 2);
}

TEST(BenchReport, EvenMedianLiesBetween) { EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5); }

TEST(BenchReport, EveryFormatHasARowPerTest) {
  const std::vector<BenchRow> rows = {row_of_samples(), row_of_samples()};
  const auto n_lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_EQ(n_lines(format_bench({}, rows, BenchFormat::kMarkdown)), 4);
  EXPECT_EQ(n_lines(format_bench({}, rows, BenchFormat::kJsonLines)), 2);
  EXPECT_EQ(n_lines(format_bench({}, rows, BenchFormat::kCsv)), 3);
}

}  // namespace
}  // namespace ferrox
