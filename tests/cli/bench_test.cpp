// Does bench read llama-bench's lists, and do its figures follow from the samples?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/bench_plan.h"
#include "cli/bench_profile.h"
#include "cli/bench_report.h"
#include "cli/model_work.h"
#include "cli/peer_bench.h"
#include "command_run.h"
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

TEST(BenchPlan, SequencesAreADimension) {
  BenchLists lists;
  lists.n_prompt = "64";
  lists.n_gen = "8";
  lists.n_depth = "0,100";
  lists.n_parallel = "1,4";
  const auto tests = plan_bench(lists);
  ASSERT_TRUE(tests);
  std::vector<std::string> names;
  for (const auto& test : *tests) names.push_back(bench_test_name(test));
  EXPECT_EQ(names, (std::vector<std::string>{"pp64", "tg8", "pp64 @ d100", "tg8 @ d100", "pp64 x4", "tg8 x4",
                                             "pp64 x4 @ d100", "tg8 x4 @ d100"}));
  lists.n_parallel = "0";
  EXPECT_FALSE(plan_bench(lists));
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

TEST(BenchReport, SequencesAddUp) {
  BenchRow row = row_of_samples();
  row.test.n_sequences = 3;
  EXPECT_EQ(samples_ts(row), (std::vector<double>{3000, 1500, 750}));
}

TEST(BenchReport, ManySequencesShareWeightsAndMayBeBoundByArithmetic) {
  ModelWork work{
      .layer_weights = 1000, .logit_weights = 500, .layer_bytes = 600, .logit_bytes = 400, .kv_bytes_per_token = 10};
  BenchRow row = row_of_samples();
  row.test = {0, 100, 50, 2, 4};  // 4 * 500 tokens a second, 500 steps
  row.limits = {.read_bytes = 1e6, .int8_operations = 1e9, .f32_operations = 4e6};
  auto share = limit_share(work, row);
  EXPECT_STREQ(share->limit, "read");
  EXPECT_DOUBLE_EQ(share->share, (600 + 400 + 4 * 10 * (50 + 50)) * 500 / 1e6);
  row.limits.int8_operations = 1e6;
  share = limit_share(work, row);
  EXPECT_STREQ(share->limit, "int8");
  EXPECT_DOUBLE_EQ(share->share, 2 * (1000 + 500) * 2000 / 1e6);
}

TEST(BenchReport, AProfileIsATreeOfSharesPerStep) {
  ProfileNode root;
  ProfileNode& forward = root.children.emplace_back();
  forward = {"forward", 10, 8'000'000, 0, {}, {}};
  forward.children.push_back({"products", 20, 6'000'000, 1'000'000, {.bytes = 2e6, .int8_operations = 3e6}, {}});
  root.children.push_back({"sampling", 10, 2'000'000, 0, {}, {}});
  const MachineLimits limits{.read_bytes = 1e9, .int8_operations = 2e9, .f32_operations = 1e9};
  const std::string text = profile_text(root, {"tg5, a step", 10}, limits);
  const auto row = [&](const std::string& name) {
    const size_t at = text.find(name);
    EXPECT_NE(at, std::string::npos) << text;
    std::istringstream words(text.substr(at + name.size(), text.find('\n', at + 1) - at - name.size()));
    return std::vector<std::string>{std::istream_iterator<std::string>(words), {}};
  };
  // 0.8 ms of 1 ms a step, 0.1 ms of it waiting; 2 MB at 1 GB/s take 2 ms of the 8
  const std::vector<std::string> whole = {"0.800", "80.0", "%", "10.0", "%", "0.20", "0.000", "25", "%", "of", "read"};
  EXPECT_EQ(row("\nforward"), whole);
  EXPECT_EQ(row("  products")[0], "0.600");
  EXPECT_EQ(row("  products")[7], "33");
  EXPECT_EQ(row("\nsampling"), (std::vector<std::string>{"0.200", "20.0", "%", "0.0", "%", "0.00", "0.000"}));

  BenchRow measured = row_of_samples();
  measured.profile = root;
  const auto json = nlohmann::json::parse(format_bench({}, {measured}, BenchFormat::kJson));
  const auto& node = json[0]["profile"]["children"][0];
  EXPECT_EQ(node["name"], "forward");
  EXPECT_EQ(node["bytes"], 2e6);
  EXPECT_EQ(node["waiting_ns"], 1'000'000);
  EXPECT_EQ(node["children"][0]["n_calls"], 20);
  EXPECT_EQ(json[0]["profile"]["time_ns"], 10'000'000);
}

TEST(BenchReport, TheLeastTimeOverlapsMemoryAndArithmetic) {
  const MachineLimits limits{.read_bytes = 10, .int8_operations = 100, .f32_operations = 50};
  EXPECT_STREQ(limit_time({.bytes = 40, .int8_operations = 100}, limits).limit, "read");
  EXPECT_DOUBLE_EQ(limit_time({.bytes = 40, .int8_operations = 100}, limits).seconds, 4);
  const auto both = limit_time({.bytes = 10, .int8_operations = 100, .f32_operations = 100}, limits);
  EXPECT_STREQ(both.limit, "f32");
  EXPECT_DOUBLE_EQ(both.seconds, 3);
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

TEST(ModelWork, MoreTokensMeetMoreExperts) {
  const ModelWork work{.layer_bytes = 100 + 0.25 * 800, .logit_bytes = 50, .expert_bytes = 800, .expert_share = 0.25};
  EXPECT_DOUBLE_EQ(step_weight_bytes(work, 1), 350);
  EXPECT_DOUBLE_EQ(step_weight_bytes(work, 2), 150 + 800 * (1 - 0.75 * 0.75));
  EXPECT_NEAR(step_weight_bytes(work, 1000), 950, 1e-6);
  const ModelWork dense{.layer_bytes = 100, .logit_bytes = 50};
  EXPECT_DOUBLE_EQ(step_weight_bytes(dense, 7), 150);
}

/// The command on a tiny model: every measured row has its tree, and the tree has the parts that a step is made of.
TEST(BenchCommand, ProfilesPromptAndGeneration) {
  const testing::TempFolder folder;
  testing::tiny_model({}).write(folder / "model.gguf");
  const auto result = testing::run_ferrox({"bench", "-m", folder / "model.gguf", "-p", "8", "-n", "4", "-npl", "1,3",
                                           "-r", "2", "-t", "2", "--profile", "-o", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = nlohmann::json::parse(result.out);
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) {
    const std::string tree = row["profile"].dump();
    for (const char* name : {"forward", "embedding", "attention", "norm", "q k v", "rope and store",
                             "scores and values", "output", "mlp", "gate up", "activation", "down", "add", "logits"}) {
      EXPECT_NE(tree.find(fmt::format("\"{}\"", name)), std::string::npos) << name;
    }
    EXPECT_EQ(tree.find("sampling") != std::string::npos, row["n_gen"] > 0);
    EXPECT_LE(row["profile"]["time_ns"], row["samples_ns"][0].get<int64_t>() + row["samples_ns"][1].get<int64_t>());
  }
}

TEST(BenchCommand, APeerIsAskedForOneSequenceOnly) {
  const auto result = testing::run_ferrox({"bench", "-m", "x.gguf", "-npl", "2", "--compare", "y"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("llama-bench measures one sequence"), std::string::npos) << result.err;
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
