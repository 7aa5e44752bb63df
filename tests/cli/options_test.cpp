// Do option values become the engine's parameters, and sizes and types read as written?
#include <gtest/gtest.h>

#include "cli/generation_options.h"
#include "cli/load_options.h"

namespace ferrox {
namespace {

SamplingParams sampling_of(const std::string& line) {
  CLI::App app;
  GenerationArguments arguments;
  add_generation_options(app, arguments);
  app.parse(line);
  const auto request = resolve_generation(arguments);
  EXPECT_TRUE(request);
  return request ? request->sampling : SamplingParams{};
}

TEST(SamplingOptions, DefaultsAreTheEngines) {
  SamplingParams params = sampling_of("--seed 7");
  EXPECT_EQ(params.seed, 7u);
  const SamplingParams defaults;
  EXPECT_EQ(params.temperature, defaults.temperature);
  EXPECT_EQ(params.top_k, defaults.top_k);
  EXPECT_EQ(params.order, defaults.order);
  EXPECT_EQ(params.dry_sequence_breakers, defaults.dry_sequence_breakers);
}

TEST(SamplingOptions, EveryFlagReachesItsField) {
  const SamplingParams params = sampling_of(
      "--temp 0.5 --top-k 7 --top-p 0.6 --min-p 0.7 --typical 0.8 --top-n-sigma 1.5 --xtc-probability 0.2 "
      "--xtc-threshold 0.3 --repeat-last-n 9 --repeat-penalty 1.1 --presence-penalty 0.4 --frequency-penalty -0.5 "
      "--dry-multiplier 0.9 --dry-base 2 --dry-allowed-length 3 --dry-penalty-last-n 11 --dynatemp-range 0.25 "
      "--dynatemp-exp 1.25 --mirostat 2 --mirostat-ent 4 --mirostat-lr 0.2");
  EXPECT_FLOAT_EQ(params.temperature, 0.5F);
  EXPECT_EQ(params.top_k, 7);
  EXPECT_FLOAT_EQ(params.top_p, 0.6F);
  EXPECT_FLOAT_EQ(params.min_p, 0.7F);
  EXPECT_FLOAT_EQ(params.typical_p, 0.8F);
  EXPECT_FLOAT_EQ(params.top_n_sigma, 1.5F);
  EXPECT_FLOAT_EQ(params.xtc_probability, 0.2F);
  EXPECT_FLOAT_EQ(params.xtc_threshold, 0.3F);
  EXPECT_EQ(params.repeat_last_n, 9);
  EXPECT_FLOAT_EQ(params.repeat_penalty, 1.1F);
  EXPECT_FLOAT_EQ(params.presence_penalty, 0.4F);
  EXPECT_FLOAT_EQ(params.frequency_penalty, -0.5F);
  EXPECT_FLOAT_EQ(params.dry_multiplier, 0.9F);
  EXPECT_FLOAT_EQ(params.dry_base, 2);
  EXPECT_EQ(params.dry_allowed_length, 3);
  EXPECT_EQ(params.dry_penalty_last_n, 11);
  EXPECT_FLOAT_EQ(params.dynatemp_range, 0.25F);
  EXPECT_FLOAT_EQ(params.dynatemp_exponent, 1.25F);
  EXPECT_EQ(params.mirostat, 2);
  EXPECT_FLOAT_EQ(params.mirostat_tau, 4);
  EXPECT_FLOAT_EQ(params.mirostat_eta, 0.2F);
}

TEST(SamplingOptions, ListsAreRead) {
  const SamplingParams params =
      sampling_of("--samplers top_k;temperature --logit-bias 5+1.5 -l 7-2 --dry-sequence-breaker none");
  EXPECT_EQ(params.order, (std::vector<SamplerKind>{SamplerKind::kTopK, SamplerKind::kTemperature}));
  ASSERT_EQ(params.logit_bias.size(), 2u);
  EXPECT_EQ(params.logit_bias[0], (std::pair<int32_t, float>{5, 1.5F}));
  EXPECT_EQ(params.logit_bias[1], (std::pair<int32_t, float>{7, -2.0F}));
  EXPECT_TRUE(params.dry_sequence_breakers.empty());
}

TEST(SamplingOptions, WithoutASeedEachRequestGetsItsOwn) {
  EXPECT_NE(sampling_of("--temp 1").seed, sampling_of("--temp 1").seed);
}

TEST(LoadOptions, SizesAreBinaryAndChecked) {
  EXPECT_EQ(*parse_size("--kv-bytes", "1000"), 1000u);
  EXPECT_EQ(*parse_size("--kv-bytes", "2k"), 2048u);
  EXPECT_EQ(*parse_size("--kv-bytes", "512M"), 512u << 20);
  EXPECT_EQ(*parse_size("--kv-bytes", "2GiB"), 2ull << 30);
  EXPECT_EQ(*parse_size("--kv-bytes", "1tb"), 1ull << 40);
  for (const char* text : {"", "G", "2X", "-1", "2 G", "2Gx", "99999999999T", "1.5G"})
    EXPECT_FALSE(parse_size("--kv-bytes", text)) << text;
}

// M3: 0 is no bytes, not the default.
TEST(LoadOptions, NoBytesForPrefixesAreNone) {
  EXPECT_EQ(*parse_size_or_zero("--kv-disk-bytes", "0"), 0u);
  EXPECT_EQ(*parse_size_or_zero("--kv-disk-bytes", "1k"), 1024u);
  EXPECT_FALSE(parse_size_or_zero("--kv-disk-bytes", "0x"));
  EXPECT_FALSE(parse_size("--kv-bytes", "0"));
  CLI::App app;
  LoadArguments arguments;
  add_load_options(app, arguments);
  app.parse("--kv-disk unused --kv-disk-bytes 0 --kv-host-bytes 0 --no-prefix-cache");
  const auto options = resolve_load(arguments);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->kv_disk_bytes, 0u);
  EXPECT_EQ(options->kv_host_bytes, 0u);
}

TEST(LoadOptions, KvTypesIgnoreCase) {
  EXPECT_EQ(*kv_type("F32"), DType::kF32);
  EXPECT_EQ(*kv_type("bf16"), DType::kBF16);
  EXPECT_EQ(*kv_type("Q8_0"), DType::kQ8_0);
  EXPECT_FALSE(kv_type("q5_0"));
}

TEST(LoadOptions, ContextIsAutoOrANumber) {
  EXPECT_EQ(*parse_context("auto"), 0);
  EXPECT_EQ(*parse_context("0"), 0);
  EXPECT_EQ(*parse_context("4096"), 4096);
  for (const char* text : {"", "-1", "4k", "99999999999999999999"}) EXPECT_FALSE(parse_context(text)) << text;
  EXPECT_EQ(*parse_kv_storage("contiguous"), KvStorage::kContiguous);
  EXPECT_FALSE(parse_kv_storage("flat"));
}

}  // namespace
}  // namespace ferrox
