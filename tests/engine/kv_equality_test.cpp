// Does it matter to the bits how rows are kept? Paged or contiguous, any page size, any element type, slid or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "arch/arch.h"
#include "support/kv_runner.h"
#include "support/model_runner.h"
#include "support/sanitized.h"
#include "support/temp_folder.h"
#include "support/vectors.h"
#include "support/window_models.h"
#include "tensor/kv_type.h"

namespace ferrox {
namespace {

using testing::KvShape;

constexpr int64_t kTokens = 200;
constexpr int64_t kPrompt = 45;

struct Subject {
  std::string name;
  std::unique_ptr<GgufFile> file;
  std::unique_ptr<Model> model;
};

Subject subject_of(const std::string& name, GgufFile file) {
  Subject subject{name, std::make_unique<GgufFile>(std::move(file)), nullptr};
  auto model = load_model(*subject.file, {.max_batch_rows = 256});
  EXPECT_TRUE(model) << name << ": " << model.error().message;
  if (model) subject.model = std::move(*model);
  return subject;
}

Subject tiny_subject(const std::string& name, const testing::TinyFile& tiny, const testing::TempFolder& folder) {
  tiny.write(folder / (name + ".gguf"));
  return subject_of(name, *GgufFile::open(folder / (name + ".gguf")));
}

std::vector<int32_t> tokens_for(const Model& model) {
  std::mt19937 random(11);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < kTokens; ++i) {
    tokens.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(model.shape().n_vocab)));
  }
  return tokens;
}

/// Every type for both, and some apart.
std::vector<testing::KvTypes> kv_types() {
  std::vector<testing::KvTypes> types = {
      {DType::kF16, DType::kQ8_0}, {DType::kQ8_0, DType::kTurbo4}, {DType::kTurbo4, DType::kF32}};
  for (const KvType& type : kKvTypes) types.emplace_back(type.dtype);
  return types;
}

bool holds_rows(const Model& model, testing::KvTypes types) {
  const KvLayout layout{model.shape().kv_layers, 16, types.k, types.v};
  return validate_layout(layout).has_value();
}

/// One pair of types against the judge, for every way of keeping rows.
void expect_equal_with(Model& model, testing::KvTypes types, const std::vector<int32_t>& tokens, ThreadPool& pool) {
  SCOPED_TRACE(std::string(find_kv_type(types.k)->name) + " and " + std::string(find_kv_type(types.v)->name));
  const auto judge = testing::run_sequence(model, tokens, {static_cast<int32_t>(kTokens)}, 64, types, pool);
  ASSERT_TRUE(std::all_of(judge.begin(), judge.end(), [](float x) { return std::isfinite(x); }));
  const std::vector<int32_t> page_sizes = testing::kIsSanitized ? std::vector{0, 4} : std::vector{0, 1, 4, 16, 64};
  for (const int32_t page_rows : page_sizes) {
    for (const int64_t interval : {1, 1'000'000}) {
      if (testing::kIsSanitized && interval != 1) continue;
      if (page_rows == 0 && interval != 1) continue;  // contiguous caches don't slide by it
      const KvShape shape{page_rows, types, 16, interval};
      const auto memory = testing::make_kv_memory(model.shape(), shape, kTokens);
      const auto got = testing::run_through(model, *memory, tokens, kPrompt, pool);
      EXPECT_EQ(std::memcmp(got.data(), judge.data(), judge.size() * sizeof(float)), 0)
          << "pages of " << page_rows << " (0: contiguous), a slide every " << interval;
    }
  }
}

/// The judge never forgets a row: whole pages for every position, the whole sequence in one pass. Returns the pairs of
/// types that the model's heads can be kept in.
int expect_equal_however_kept(Subject& subject) {
  SCOPED_TRACE(subject.name);
  if (!subject.model) return 0;
  ThreadPool pool(1);
  int n_pairs = 0;
  for (const testing::KvTypes types : kv_types()) {
    if (!holds_rows(*subject.model, types)) continue;
    expect_equal_with(*subject.model, types, tokens_for(*subject.model), pool);
    ++n_pairs;
  }
  return n_pairs;
}

TEST(KvEquality, TinyModelsOfEveryKindOfAttention) {
  const testing::TempFolder folder;
  const testing::TinyModel wide = {.n_embd = 64, .n_heads = 2, .n_kv_heads = 1, .head_dim = 32};  // holds blocks of 32
  Subject full = tiny_subject("full", testing::tiny_model(wide), folder);
  Subject narrow = tiny_subject("narrow", testing::tiny_model({}), folder);
  Subject uniform = tiny_subject("uniform", testing::uniform_window_model(8, wide), folder);
  Subject alternating = tiny_subject("alternating", testing::alternating_window_model(8, wide), folder);
  Subject shortest = tiny_subject("a window of one", testing::alternating_window_model(1, wide), folder);
  ASSERT_TRUE(uniform.model && alternating.model && shortest.model);
  EXPECT_EQ(attention_kinds(uniform.model->shape().kv_layers).windows, (std::vector<int>{8}));
  EXPECT_EQ(attention_kinds(alternating.model->shape().kv_layers).windows, (std::vector<int>{8, 0}));
  EXPECT_EQ(attention_kinds(shortest.model->shape().kv_layers).windows, (std::vector<int>{1, 0}));
  for (Subject* subject : {&full, &uniform, &alternating, &shortest}) EXPECT_EQ(expect_equal_however_kept(*subject), 9);
  EXPECT_EQ(expect_equal_however_kept(narrow), 3) << "heads of 16 are no whole block";
}

/// What slides takes fewer pages than positions would: else the table above compares nothing.
TEST(KvEquality, SlidingKindsTakeFewerPages) {
  const testing::TempFolder folder;
  const Subject uniform = tiny_subject("uniform", testing::uniform_window_model(8), folder);
  const auto memory = testing::make_kv_memory(uniform.model->shape(), {.page_rows = 4, .slide_interval = 1}, kTokens);
  EXPECT_LT(memory->terms().n_pages[0], kTokens / 4);
}

TEST(KvEquality, OutsideModelsWithWindows) {
  FERROX_VECTORS_OR_SKIP(vectors, testing::vector_dir());
  size_t n_models = 0;
  int n_pairs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(vectors / "arch")) {
    if (entry.path().extension() != ".gguf") continue;
    auto file = GgufFile::open(entry.path());
    ASSERT_TRUE(file) << file.error().message;
    const auto architecture = file->metadata().get_string("general.architecture");
    constexpr std::string_view kFamilies[] = {"gemma2", "gemma3", "gpt-oss", "cohere2", "mimo2"};
    if (!architecture || std::find(std::begin(kFamilies), std::end(kFamilies), *architecture) == std::end(kFamilies)) {
      continue;
    }
    Subject subject = subject_of(entry.path().filename().string(), std::move(*file));
    const std::vector<int> windows = attention_kinds(subject.model->shape().kv_layers).windows;
    EXPECT_EQ(windows.size(), 2u) << subject.name << ": full and sliding layers alternate";
    n_pairs += expect_equal_however_kept(subject);
    ++n_models;
  }
  testing::record_vectors(n_models);
  EXPECT_GE(n_models, 5u);
  printf("%zu outside models, %d pairs of element types over all\n", n_models, n_pairs);
}

}  // namespace
}  // namespace ferrox
