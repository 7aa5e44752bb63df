// Does the command score a text, keep its predictions and find how far another model is from them?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "command_run.h"
#include "support/temp_folder.h"
#include "support/tiny_vocabulary.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::run_ferrox;

class Perplexity : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = write_model("model.gguf", 1);
    std::ofstream text(folder_ / "text");
    for (int i = 0; i < 300; ++i) text << "hello " << i * 37 % 91 << " in a shell\n";
  }

  std::string write_model(const std::string& name, uint32_t seed) {
    testing::TinyModel description;
    description.n_vocab = testing::kTinyVocabularySize;
    description.seed = seed;
    auto file = testing::tiny_model(description);
    testing::add_tiny_vocabulary(file);
    file.write(folder_ / name);
    return folder_ / name;
  }

  std::string path(const std::string& name) const { return folder_ / name; }

  /// With few tokens a chunk and the options given; the report.
  nlohmann::json score(const std::string& model, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"perplexity", "-m", model, "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = run_ferrox(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }

  testing::TempFolder folder_;
  std::string model_;
};

TEST_F(Perplexity, ARandomModelIsAboutAsUnsureAsItsVocabularyIsLarge) {
  const auto report = score(model_, {"-f", path("text"), "-c", "64", "--chunks", "4"});
  EXPECT_EQ(report["n_chunks"], 4);
  EXPECT_EQ(report["n_tokens"], 4 * 31);
  EXPECT_GT(report["perplexity"]["value"], 264 / 4);
  EXPECT_LT(report["perplexity"]["value"], 264 * 4);
  EXPECT_GT(report["perplexity"]["standard_error"], 0);
}

TEST_F(Perplexity, DoesNotDependOnHowItIsComputed) {
  const std::vector<std::string> text = {"-f", path("text"), "-c", "64", "--chunks", "3"};
  auto other = text;
  other.insert(other.end(), {"-b", "5", "-t", "1"});
  EXPECT_EQ(score(model_, text), score(model_, other));
}

TEST_F(Perplexity, AModelIsNoDistanceFromItselfAndSomeFromAnother) {
  score(model_, {"-f", path("text"), "-c", "64", "--chunks", "3", "--save-logits", path("base")});
  const auto same = score(model_, {"--kl", path("base")});
  EXPECT_EQ(same["n_chunks"], 3);
  EXPECT_NEAR(same["kl_divergence"]["mean"]["value"], 0, 16.0 / 65535);
  EXPECT_EQ(same["same_top_share"]["value"], 1);
  EXPECT_NEAR(same["perplexity_ratio"]["value"], 1, 1e-4);

  const std::string other = write_model("other.gguf", 2);
  const auto far = score(other, {"--kl-divergence", "--kl-divergence-base", path("base")});
  const auto& kl = far["kl_divergence"];
  EXPECT_GT(kl["mean"]["value"], 0.01);
  EXPECT_GE(kl["maximum"], kl["p99"]);
  EXPECT_GE(kl["p99"], kl["median"]);
  EXPECT_GE(kl["median"], kl["minimum"]);
  EXPECT_LT(far["same_top_share"]["value"], 1);
  EXPECT_NEAR(far["perplexity_ratio"]["value"].get<double>() * far["reference_perplexity"]["value"].get<double>(),
              far["perplexity"]["value"], 1e-6 * far["perplexity"]["value"].get<double>());
  EXPECT_EQ(score(other, {"--kl", path("base"), "--chunks", "1"})["n_tokens"], 31);
}

TEST_F(Perplexity, LinesTellWhatJsonTells) {
  run_ferrox({"perplexity", "-m", model_, "-f", path("text"), "-c", "32", "--save-logits", path("base")});
  const auto result = run_ferrox({"perplexity", "-m", model_, "--kl", path("base")});
  for (const char* words : {"scored: ", " chunks of 32\n", "perplexity: ", " +/- ", "KL divergence: mean ",
                            "KL divergence: p99.9 ", "same likeliest token: 100 +/- 0 %"}) {
    EXPECT_THAT(result.out, HasSubstr(words));
  }
}

TEST_F(Perplexity, ADamagedReferenceIsRefusedWhereverItIsCut) {
  score(model_, {"-f", path("text"), "-c", "8", "--chunks", "2", "--save-logits", path("base")});
  std::ifstream in(path("base"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(path("bad"), std::ios::binary) << bytes;
    const auto result = run_ferrox({"perplexity", "-m", model_, "--kl", path("bad")});
    EXPECT_EQ(result.exit_code, 1) << bytes.size();
    EXPECT_THAT(result.err, HasSubstr("--save-logits"));
  };
  for (const size_t n : {size_t{0}, size_t{7}, size_t{8}, size_t{19}, size_t{20}, size_t{50}, whole.size() - 1}) {
    refused(whole.substr(0, n));
  }
  refused(whole + "x");
  for (const size_t place : {0, 8, 11, 12, 15, 16, 19, 20 + 3}) {  // magic, context, vocabulary, chunks, a token
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 0x7f);
    refused(changed);
  }
}

TEST_F(Perplexity, OptionsThatCannotBeMeantAreRefused) {
  const auto refusal = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"perplexity", "-m", model_});
    const auto result = run_ferrox(options);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("expected a text with -f FILE"));
  EXPECT_THAT(refusal({"--kl-divergence"}), HasSubstr("--kl-divergence-base"));
  EXPECT_THAT(refusal({"--kl", "x", "-f", "y"}), HasSubstr("the reference brings its text"));
  EXPECT_THAT(refusal({"--kl", "x", "-c", "64"}), HasSubstr("the reference brings its text"));
  EXPECT_THAT(refusal({"--kl", "x", "--save-logits", "y"}), HasSubstr("a comparison writes no predictions"));
  EXPECT_THAT(refusal({"-f", "y", "-c", "3"}), HasSubstr("expected a number from 4"));
  const auto short_text = run_ferrox({"perplexity", "-m", model_, "-f", path("text"), "-c", "100000"});
  EXPECT_EQ(short_text.exit_code, 1);
  EXPECT_THAT(short_text.err, HasSubstr("expected at least one chunk of 100000 tokens"));
}

}  // namespace
}  // namespace ferrox
