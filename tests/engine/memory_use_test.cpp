// Does a full run take no more memory than was declared before it began?
#include <gtest/gtest.h>

#include "base/machine.h"
#include "base/units.h"
#include "engine/engine.h"
#include "support/event_log.h"
#include "support/sanitized.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"
#include "support/tiny_vocabulary.h"

namespace ferrox {
namespace {

constexpr int kRequests = 12;
constexpr uint64_t kAllowance = uint64_t{16} << 20;  // allocator, stacks, requests in flight

/// Eight run at a time in a store that they fill to the last page, with logits of each kept for log-probabilities.
TEST(MemoryUse, AFullRunStaysWithinWhatWasDeclared) {
  if (testing::kIsSanitized) GTEST_SKIP() << "sanitizers hold memory of their own";
  const testing::TempFolder folder;
  testing::TinyModel model;
  model.n_vocab = testing::kTinyVocabularySize;
  model.context_length = 1024;
  model.n_layers = 8;
  model.n_kv_heads = 4;
  model.head_dim = 64;
  testing::TinyFile tiny = testing::tiny_model(model);
  testing::add_tiny_vocabulary(tiny);
  tiny.write(folder / "tiny.gguf");
  EngineOptions options;
  options.model_path = folder / "tiny.gguf";
  options.n_threads = 2;
  options.n_parallel = 8;
  const uint64_t before = anonymous_memory_bytes().value_or(0);
  ASSERT_GT(before, 0u);
  const std::unique_ptr<Engine> engine = *Engine::load(options);
  std::vector<testing::EventLog> logs(kRequests);
  for (int i = 0; i < kRequests; ++i) {
    GenerationRequest request;
    request.prompt.assign(700, i);
    request.max_tokens = -1;
    request.ignore_eos = true;
    request.sampling.n_logprobs = 5;
    ASSERT_TRUE(engine->submit(std::move(request), logs[static_cast<size_t>(i)].sink()));
  }
  for (testing::EventLog& log : logs) EXPECT_EQ(log.ids().size(), 324u);
  const uint64_t taken = *anonymous_memory_bytes() - before;
  const uint64_t declared = engine->kv_bytes() + engine->scratch_bytes();
  printf("taken %s; declared: KV %s + scratch %s\n", format_bytes(taken).c_str(),
         format_bytes(engine->kv_bytes()).c_str(), format_bytes(engine->scratch_bytes()).c_str());
  EXPECT_LE(taken, declared + kAllowance);
  EXPECT_GE(taken, engine->kv_bytes()) << "every page was touched, or this judges nothing";
}

}  // namespace
}  // namespace ferrox
