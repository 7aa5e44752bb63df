// Does it matter to the bits whether rows were computed or reused? For every kind of model.
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

namespace ferrox {
namespace {

using testing::KvShape;

constexpr int64_t kWindow = 8;

/// A model, its judge, and a memory that caches.
class Reuse {
 public:
  Reuse(Model& model, int32_t page_rows, int64_t n_requests = 32) : model_(model) {
    memory_ = testing::make_kv_memory(model.shape(),
                                      {.page_rows = page_rows,
                                       .types = DType::kF16,
                                       .chunk_rows = 16,
                                       .slide_interval = 16,
                                       .caching = PrefixCaching::kOn,
                                       .n_requests = n_requests},
                                      160);
  }

  /// A conversation's turn: a prompt, then an answer that is given. Every computed position has the judge's logits;
  /// gives the number of those that were reused. `ends`: of the prompt's messages.
  int64_t turn(const std::vector<int32_t>& tokens, int64_t n_prompt, const std::vector<int64_t>& ends = {}) {
    const auto n_vocab = static_cast<size_t>(model_.shape().n_vocab);
    const std::vector<float> judge =
        testing::run_sequence(model_, tokens, {static_cast<int32_t>(tokens.size())}, 64, DType::kF16, pool_);
    KvDemand demand{.n_prompt = n_prompt, .max_tokens = static_cast<int64_t>(tokens.size()) - n_prompt};
    demand.prompt = std::span(tokens).first(static_cast<size_t>(n_prompt));
    demand.boundaries = ends;
    const std::unique_ptr<RequestKv> kv = memory_->take(demand);
    EXPECT_TRUE(kv);
    if (!kv) return -1;
    const std::vector<float> logits = testing::run_on(model_, *memory_, *kv, tokens, n_prompt, pool_);
    const size_t first = static_cast<size_t>(kv->n_reused()) * n_vocab;
    EXPECT_EQ(std::memcmp(logits.data() + first, judge.data() + first, (judge.size() - first) * sizeof(float)), 0)
        << "behind " << kv->n_reused() << " of " << n_prompt << " tokens";
    kv->publish(tokens);
    memory_->check_integrity();
    return kv->n_reused();
  }

  KvMemory& memory() { return *memory_; }

 private:
  Model& model_;
  std::unique_ptr<KvMemory> memory_;
  ThreadPool pool_{1};
};

struct Subject {
  std::string name;
  std::unique_ptr<GgufFile> file;
  std::unique_ptr<Model> model;
};

Subject load(const std::string& name, const std::filesystem::path& path) {
  Subject subject{name, std::make_unique<GgufFile>(*GgufFile::open(path)), nullptr};
  auto model = load_model(*subject.file, {.max_batch_rows = 256});
  EXPECT_TRUE(model) << name << ": " << model.error().message;
  if (model) subject.model = std::move(*model);
  return subject;
}

Subject tiny(const std::string& name, const testing::TinyFile& file, const testing::TempFolder& folder) {
  file.write(folder / (name + ".gguf"));
  return load(name, folder / (name + ".gguf"));
}

std::vector<int32_t> random_tokens(const Model& model, int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < n; ++i) {
    tokens.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(model.shape().n_vocab)));
  }
  return tokens;
}

std::vector<int32_t> with_end(std::vector<int32_t> tokens, size_t n, const std::vector<int32_t>& end) {
  tokens.resize(n);
  tokens.insert(tokens.end(), end.begin(), end.end());
  return tokens;
}

/// Two turns, an exact repeat, and prompts that part anywhere.
void expect_reuse(Model& model, int32_t page_rows, uint32_t n_branches = 12) {
  SCOPED_TRACE("pages of " + std::to_string(page_rows));
  Reuse reuse(model, page_rows);
  const std::vector<int32_t> first = random_tokens(model, 100, 1);
  EXPECT_EQ(reuse.turn(first, 75), 0);
  EXPECT_EQ(reuse.turn(with_end(first, 75, random_tokens(model, 9, 2)), 75), 74) << "an exact repeat computes a token";
  EXPECT_EQ(reuse.turn(with_end(first, 100, random_tokens(model, 30, 3)), 120), 100) << "a second turn: the new tokens";
  EXPECT_EQ(reuse.turn(random_tokens(model, 60, 4), 50), 0);
  const std::vector<int32_t> other = with_end(first, 37, random_tokens(model, 60, 5));
  reuse.turn(other, 80, {20, 37});
  reuse.turn(with_end(other, 37, random_tokens(model, 50, 6)), 70, {20, 37});
  // A state and a window inside a page of another sequence may lie at its start instead.
  const bool has_both =
      model.shape().state_floats > 0 && attention_kinds(model.shape().kv_layers).windows != std::vector{0};
  const int64_t n_reused = reuse.turn(with_end(other, 37, random_tokens(model, 50, 7)), 70, {20, 37});
  EXPECT_GE(n_reused, has_both ? 37 / page_rows * page_rows : 37) << "where a message ended";
  EXPECT_LE(n_reused, 37);
  for (uint32_t i = 0; i < n_branches; ++i) {
    const size_t n_shared = 5 + 7 * i;
    reuse.turn(with_end(first, n_shared, random_tokens(model, 30, 20 + i)), static_cast<int64_t>(n_shared) + 20);
  }
}

TEST(PrefixEquality, EveryKindOfAttention) {
  const testing::TempFolder folder;
  for (Subject& subject : std::vector<Subject>([&] {
         std::vector<Subject> all;
         all.push_back(tiny("full", testing::tiny_model({}), folder));
         all.push_back(tiny("uniform", testing::uniform_window_model(kWindow), folder));
         all.push_back(tiny("alternating", testing::alternating_window_model(kWindow), folder));
         all.push_back(tiny("a window of one", testing::alternating_window_model(1), folder));
         return all;
       }())) {
    SCOPED_TRACE(subject.name);
    ASSERT_TRUE(subject.model);
    const std::vector<int32_t> page_sizes = testing::kIsSanitized ? std::vector{4} : std::vector{1, 4, 16, 64};
    for (const int32_t page_rows : page_sizes) expect_reuse(*subject.model, page_rows);
  }
}

// C1, C3, C5: real families of every kind, hybrids among them.
TEST(PrefixEquality, OutsideModelsOfEveryKind) {
  FERROX_VECTORS_OR_SKIP(vectors, testing::vector_dir());
  size_t n_models = 0;
  for (const char* name : {"llama-dense", "gemma3-swa", "gpt-oss-moe", "mimo2-splitkv", "mamba2-dense",
                           "falcon-h1-dense", "lfm2-dense", "qwen3next-moe"}) {
    SCOPED_TRACE(name);
    Subject subject = load(name, vectors / "arch" / (std::string(name) + ".gguf"));
    ASSERT_TRUE(subject.model);
    expect_reuse(*subject.model, 4, 3);
    ++n_models;
  }
  testing::record_vectors(n_models);
}

}  // namespace
}  // namespace ferrox
