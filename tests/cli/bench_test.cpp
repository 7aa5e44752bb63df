// Does bench read llama-bench's lists, and do its figures follow from the samples?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/bench_plan.h"
#include "cli/bench_report.h"
#include "cli/model_work.h"
#include "cli/peer_bench.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"

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
  for (const char* text : {"", "x", "1,", "-1", "1-", "1-9*1", "0-9*2", "1-9+0", "1-2-3", "1 2", "1-1000000",
                           "99999999999", "10-1", "9-8+1"}) {
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

TEST(BenchPlan, RefusesToMeasureNothing) {
  BenchLists lists;
  lists.n_prompt = "0";
  lists.n_gen = "0";
  EXPECT_FALSE(plan_bench(lists));
}

BenchRow row_of_samples() {
  return BenchRow{{100, 0, 0, 2}, "2025-01-01T00:00:00Z", {100'000'000, 200'000'000, 400'000'000}, {}, {}};
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
  EXPECT_EQ(n_lines(format_bench({}, rows, BenchFormat::kMarkdown)), 6);  // a head of two, and the limits
  EXPECT_EQ(n_lines(format_bench({}, rows, BenchFormat::kJsonLines)), 2);
  EXPECT_EQ(n_lines(format_bench({}, rows, BenchFormat::kCsv)), 3);
}

TEST(BenchReport, AShareIsWorkOverTheLimit) {
  const ModelWork work{.layer_weights = 1000,
                       .logit_weights = 500,
                       .layer_bytes = 600,
                       .logit_bytes = 400,
                       .kv_bytes_per_token = 10,
                       .is_float = false};
  BenchRow row = row_of_samples();  // 500 tokens a second in the middle
  row.limits = {.read_bytes = 1e6, .int8_operations = 2e6, .f32_operations = 4e6};
  const auto prompt = limit_share(work, row);
  ASSERT_TRUE(prompt);
  EXPECT_STREQ(prompt->limit, "int8");
  EXPECT_DOUBLE_EQ(prompt->share, 2 * (1000 + 500 / 100.0) * 500 / 2e6);
  row.test = {0, 100, 50, 2};
  const auto generation = limit_share(work, row);
  ASSERT_TRUE(generation);
  EXPECT_STREQ(generation->limit, "read");
  EXPECT_DOUBLE_EQ(generation->share, (600 + 400 + 10 * (50 + 50)) * 500 / 1e6);
  row.test = {100, 100, 0, 2};
  EXPECT_FALSE(limit_share(work, row));
}

TEST(BenchReport, APeerStandsBesideOurs) {
  BenchContext context;
  context.peer = "other";
  BenchRow row = row_of_samples();
  row.peer_ts = {200, 250, 300};
  const auto json = nlohmann::json::parse(format_bench(context, {row}, BenchFormat::kJson));
  EXPECT_DOUBLE_EQ(json[0]["ratio"].get<double>(), 2);
}

TEST(ModelWork, CountsWhatATokenMeets) {
  const testing::TempFolder folder;
  testing::TinyModel model;
  model.n_experts = 4;
  model.n_experts_used = 1;
  model.has_output = false;
  tiny_model(model).write(folder / "model.gguf");
  const auto file = GgufFile::open(folder / "model.gguf");
  ASSERT_TRUE(file) << file.error().message;
  double weights = 0;
  for (const auto& tensor : file->tensors()) {
    if (tensor.dims.size() < 2 || !tensor.name.starts_with("blk.")) continue;
    weights += static_cast<double>(tensor.n_elements) / (tensor.name.find("_exps.") == std::string::npos ? 1 : 4);
  }
  const ModelWork work = count_work(*file);
  EXPECT_DOUBLE_EQ(work.layer_weights, weights);
  EXPECT_DOUBLE_EQ(work.logit_weights, static_cast<double>(file->find_tensor("token_embd.weight")->n_elements));
}

class PeerBench : public ::testing::Test {
 protected:
  std::string program(const std::string& body) {
    const auto path = folder_ / "peer";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }

  testing::TempFolder folder_;
};

TEST_F(PeerBench, GetsTheSameTestAndItsAnswerIsRead) {
  const auto answered = run_peer({program("echo \"{\\\"avg_ts\\\": $8}\"\n"), "m.gguf", 64}, {128, 0, 0, 2});
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_DOUBLE_EQ(*answered, 128);  // the eighth argument is what follows -p
}

TEST_F(PeerBench, FaultsAreErrorsWithTheProgramsName) {
  for (const std::string& faulty : {program("exit 3"), program("echo nothing"), (folder_ / "missing").string()}) {
    const auto answered = run_peer({faulty, "m.gguf", 64}, {128, 0, 0, 2});
    ASSERT_FALSE(answered);
    EXPECT_NE(answered.error().message.find(faulty), std::string::npos) << answered.error().message;
  }
}

}  // namespace
}  // namespace ferrox
