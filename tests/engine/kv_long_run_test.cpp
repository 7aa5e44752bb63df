// Does a window model answer for ever in the same pages and the same memory?
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "arch/arch.h"
#include "support/kv_runner.h"
#include "support/sanitized.h"
#include "support/temp_folder.h"
#include "support/window_models.h"

namespace ferrox {
namespace {

int64_t resident_bytes() {
  int64_t n_virtual = 0;
  int64_t n_resident = 0;
  std::ifstream("/proc/self/statm") >> n_virtual >> n_resident;
  return n_resident * sysconf(_SC_PAGESIZE);
}

/// FERROX_LONG_TOKENS asks for more than the 3,000 that always run; docs/MEMORY.md has the run of 100,000.
TEST(KvLongRun, PagesAndMemoryStayFlat) {
  const char* asked = std::getenv("FERROX_LONG_TOKENS");
  const int64_t n_tokens = asked == nullptr ? 3000 : std::atoll(asked);
  const testing::TempFolder folder;
  testing::uniform_window_model(64, {.context_length = 1 << 20}).write(folder / "window.gguf");
  const GgufFile file = *GgufFile::open(folder / "window.gguf");
  const auto model = *load_model(file, {.max_batch_rows = 16});
  const auto memory = testing::make_kv_memory(model->shape(), {.page_rows = 32}, n_tokens + 10);
  ThreadPool pool(1);
  const std::unique_ptr<RequestKv> kv = memory->take(1, n_tokens);
  const std::vector<int32_t> n_free = memory->n_free();
  std::vector<float> logits(static_cast<size_t>(model->shape().n_vocab));
  const int32_t last_row = 0;
  int32_t token = 1;
  [[maybe_unused]] int64_t settled_bytes = 0;
  for (int64_t i = 0; i < n_tokens; ++i) {
    const BatchSegment segment{1, i, kv->begin_step(1)};
    model->forward({{&token, 1}, {&segment, 1}, {&last_row, 1}}, memory->layers(), pool, logits.data());
    kv->end_step({});
    token = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    ASSERT_EQ(memory->n_free(), n_free);
    if (i == n_tokens / 4) settled_bytes = resident_bytes();
    if (i % 10'000 == 0)
      printf("%ld tokens: %d pages held, %.1f MiB resident\n", static_cast<long>(i),
             memory->terms().n_pages[0] - memory->n_free()[0], static_cast<double>(resident_bytes()) / (1 << 20));
  }
  if (testing::kIsSanitized) return;  // they keep what was freed
  EXPECT_LT(resident_bytes() - settled_bytes, int64_t{2} << 20) << "bytes more than after a quarter of the tokens";
}

}  // namespace
}  // namespace ferrox
