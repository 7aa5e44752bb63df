// How many pages does each family with windows hold while its answer grows? A full kind's grow, a sliding kind's don't.
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/arch.h"
#include "kv/lease.h"
#include "kv/paged_memory.h"
#include "support/sanitized.h"
#include "support/temp_folder.h"
#include "support/vectors.h"
#include "support/window_models.h"

namespace ferrox {
namespace {

constexpr int64_t kPrompt = 100;
constexpr int64_t kAnswers[] = {100, 1000, 10'000, testing::kIsSanitized ? 20'000 : 100'000};

KvTerms terms_of_model(const GgufFile& file) {
  const auto model = load_model(file, {.max_batch_rows = 16});
  EXPECT_TRUE(model) << model.error().message;
  KvTerms terms = terms_of({(*model)->shape().kv_layers, 16, DType::kF16, DType::kF16});
  terms.chunk_rows = 64;
  return terms;
}

/// Pages of each kind that a request holds from its first step to its last: taken, stepped through and counted.
std::vector<int64_t> pages_held(KvTerms terms, int64_t n_answer) {
  terms.n_pages.clear();
  for (const int64_t n : lease_pages(terms, kPrompt, n_answer)) terms.n_pages.push_back(static_cast<int32_t>(n));
  PageGroups groups(terms.n_pages);
  std::optional<KvLease> lease = KvLease::take(groups, terms, kPrompt, n_answer);
  for (int64_t n; lease->length() < kPrompt; lease->end_step()) {
    n = std::min(terms.chunk_rows, kPrompt - lease->length());
    lease->begin_step(n);
  }
  for (int64_t i = 0; i < n_answer; ++i) {
    lease->begin_step(1);
    lease->end_step();
    if (i % 97 == 0) lease->check_integrity();
  }
  lease->check_integrity();
  std::vector<int64_t> held;
  for (int kind = 0; kind < groups.n_kinds(); ++kind) held.push_back(groups.pool(kind).n_held());
  return held;
}

/// Prints a row for each kind, and judges it.
void show_pages(const std::string& family, const KvTerms& terms) {
  std::vector<std::vector<int64_t>> held;
  for (const int64_t n_answer : kAnswers) held.push_back(pages_held(terms, n_answer));
  for (size_t kind = 0; kind < terms.windows.size(); ++kind) {
    const int window = terms.windows[kind];
    printf("%-24s window %4d:", family.c_str(), window);
    for (const auto& pages : held) printf(" %6ld", static_cast<long>(pages[kind]));
    printf("\n");
    const int64_t of_prompt = std::min<int64_t>(kPrompt, 64 + window + 16);  // a chunk, the window, a page
    const int64_t past_it = 2 * (window + 16) + 128 + 2 * 16 + 16;
    for (size_t i = 0; i < held.size(); ++i) {
      const int64_t all = kPrompt + kAnswers[i];
      const int64_t positions = window == 0 ? all : std::min(all, of_prompt + past_it);
      EXPECT_EQ(held[i][kind], (positions + 15) / 16) << family << ", answer of " << kAnswers[i];
    }
  }
}

void show_head() {
  printf("pages of 16 positions that a request holds, prompt of 100, answer of\n%-38s", "");
  for (const int64_t n_answer : kAnswers) printf(" %6ld", static_cast<long>(n_answer));
  printf("\n");
}

TEST(WindowPages, UniformAndAlternatingModels) {
  const testing::TempFolder folder;
  testing::uniform_window_model(64).write(folder / "uniform.gguf");
  testing::alternating_window_model(64).write(folder / "alternating.gguf");
  show_head();
  const KvTerms uniform = terms_of_model(*GgufFile::open(folder / "uniform.gguf"));
  EXPECT_EQ(uniform.windows, (std::vector<int>{64}));
  show_pages("uniform (phi3)", uniform);
  const KvTerms alternating = terms_of_model(*GgufFile::open(folder / "alternating.gguf"));
  EXPECT_EQ(alternating.windows, (std::vector<int>{64, 0}));
  show_pages("alternating (cohere2)", alternating);
}

TEST(WindowPages, OutsideFamilies) {
  FERROX_VECTORS_OR_SKIP(vectors, testing::vector_dir());
  show_head();
  for (const char* name : {"gemma2-dense", "gemma3-swa", "gpt-oss-moe", "cohere2-swa", "mimo2-splitkv"}) {
    const auto file = GgufFile::open(vectors / "arch" / (std::string(name) + ".gguf"));
    ASSERT_TRUE(file) << file.error().message;
    const KvTerms terms = terms_of_model(*file);
    EXPECT_EQ(terms.windows.size(), 2u) << name;
    EXPECT_EQ(std::count(terms.windows.begin(), terms.windows.end(), 0), 1) << name << ": one kind is full";
    show_pages(name, terms);
  }
  testing::record_vectors(5);
}

}  // namespace
}  // namespace ferrox
