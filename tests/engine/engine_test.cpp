// Does the public class take a file to streamed answers, the same however it is run?
#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/bundled_model.h"
#include "engine/evaluator.h"
#include "engine/event_channel.h"
#include "kernels/kernel_table.h"
#include "support/event_log.h"
#include "support/locked_memory.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"
#include "support/tiny_vocabulary.h"
#include "tensor/kv_type.h"

namespace ferrox {
namespace {

using testing::EventLog;
using ::testing::HasSubstr;
using testing::kTinyVocabularySize;
using testing::TempFolder;
using testing::TinyFile;

TinyFile tiny_file() {
  testing::TinyModel model;
  model.n_vocab = kTinyVocabularySize;
  model.context_length = 256;
  TinyFile file = testing::tiny_model(model);
  testing::add_tiny_vocabulary(file);
  return file;
}

/// A small random llama on disk.
struct TinyEngine : ::testing::Test {
  TinyEngine() { tiny_file().write(path()); }

  std::filesystem::path path() const { return folder / "tiny.gguf"; }

  EngineOptions options() const {
    EngineOptions options;
    options.model_path = path();
    options.n_threads = 2;
    return options;
  }

  static std::unique_ptr<Engine> load(const EngineOptions& options) {
    Result<std::unique_ptr<Engine>> engine = Engine::load(options);
    EXPECT_TRUE(engine) << engine.error().message;
    return std::move(*engine);
  }

  static std::string refusal(const EngineOptions& options) {
    const Result<std::unique_ptr<Engine>> engine = Engine::load(options);
    return engine ? "accepted" : engine.error().message;
  }

  TempFolder folder;
};

GenerationRequest request_for(const Engine& engine, std::string_view text, uint64_t seed) {
  GenerationRequest request;
  request.prompt = engine.tokenizer().encode(text, SpecialTokens::kAsText);
  request.max_tokens = 24;
  request.sampling.seed = seed;
  return request;
}

EventLog submit(Engine& engine, GenerationRequest request) {
  EventLog log;
  const Result<RequestId> id = engine.submit(std::move(request), log.sink());
  EXPECT_TRUE(id) << id.error().message;
  return log;
}

TEST_F(TinyEngine, SaysWhatItLoaded) {
  std::vector<double> progress;
  EngineOptions with_progress = options();
  with_progress.on_load_progress = [&](double fraction) { progress.push_back(fraction); };
  const std::unique_ptr<Engine> engine = load(with_progress);
  EXPECT_EQ(engine->model_id(), "tiny");
  EXPECT_EQ(engine->shape().architecture, "llama");
  EXPECT_EQ(engine->context_length(), 256);
  EXPECT_GT(engine->kv_bytes(), 0u);
  EXPECT_EQ(engine->file().metadata().contains("tokenizer.chat_template"), true);
  EXPECT_FALSE(engine->chat_template().is_built_in());
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(progress.back(), 1.0);
}

TEST_F(TinyEngine, LocksItsWeightsWhenAsked) {
  if (!testing::kLocksMemory) GTEST_SKIP() << "this build locks nothing";
  const uint64_t before = testing::locked_kib();
  EngineOptions locked = options();
  locked.lock_weights = true;
  const auto engine = Engine::load(locked);
  if (!engine) GTEST_SKIP() << engine.error().message;
  EXPECT_GE(testing::locked_kib(), before + (*engine)->shape().weight_bytes / 1024);
}

TEST_F(TinyEngine, StreamsThroughAChannel) {
  const std::unique_ptr<Engine> engine = load(options());
  EventChannel channel;
  ASSERT_TRUE(engine->submit(request_for(*engine, "hello", 1), channel.sink()));
  int64_t n_tokens = 0;
  for (;;) {
    const std::optional<Event> event = channel.next(60000);
    ASSERT_TRUE(event);
    n_tokens += std::holds_alternative<TokenEvent>(*event);
    if (const auto* done = std::get_if<DoneEvent>(&*event)) {
      EXPECT_EQ(done->usage.completion_tokens, n_tokens);
      break;
    }
  }
  EXPECT_FALSE(channel.next(0));
}

// O6 on real arithmetic: one seed, one text, whatever the threads, the chunks, the pages and the neighbours are.
TEST_F(TinyEngine, OneSeedOneText) {
  const std::vector<std::string> prompts = {"hello", "in the hills, he will", "a", std::string(100, 'x')};
  std::vector<std::string> texts;
  for (const int variant : {0, 1, 2, 3}) {
    EngineOptions changed = options();
    if (variant == 1) changed.n_threads = 1, changed.page_rows = 4, changed.n_parallel = 1;
    if (variant == 2) changed.batch_rows = 7, changed.n_parallel = 7;
    if (variant == 3) changed.page_rows = 64, changed.batch_rows = 33;
    const std::unique_ptr<Engine> engine = load(changed);
    std::vector<EventLog> logs;
    for (size_t i = 0; i < prompts.size(); ++i) {
      if (variant != 1) submit(*engine, request_for(*engine, "neighbour", 100 + i));
      logs.push_back(submit(*engine, request_for(*engine, prompts[i], i)));
    }
    for (size_t i = 0; i < prompts.size(); ++i) {
      if (variant == 0) texts.push_back(logs[i].text());
      EXPECT_EQ(logs[i].text(), texts[i]) << "prompt " << i << " variant " << variant;
    }
  }
}

TEST_F(TinyEngine, GreedyAnswersFollowTheEvaluatorsLogits) {
  const std::unique_ptr<Engine> engine = load(options());
  GenerationRequest request = request_for(*engine, "hello", 0);
  request.sampling.temperature = 0;
  request.ignore_eos = true;
  const std::vector<int32_t> got = submit(*engine, request).ids();
  Evaluator evaluator = *Evaluator::load(engine->file(), {.n_threads = 1});
  std::vector<int32_t> next = request.prompt;
  for (const int32_t id : got) {
    const std::span<const float> logits = *evaluator.append(next, Evaluator::Logits::kLast);
    EXPECT_EQ(id, std::max_element(logits.begin(), logits.end()) - logits.begin());
    next = {id};
  }
  EXPECT_EQ(got.size(), 24u);
}

TEST_F(TinyEngine, RefusesWhatCantBeLoaded) {
  EngineOptions missing = options();
  missing.model_path = folder / "none.gguf";
  EXPECT_THAT(refusal(missing), HasSubstr("none.gguf"));
  EngineOptions bad_template = options();
  bad_template.chat_template = "{% if %}";
  EXPECT_NE(refusal(bad_template), "accepted");
  EngineOptions bad_type = options();
  bad_type.k_type = DType::kQ4_K;
  EXPECT_THAT(refusal(bad_type), HasSubstr("K type is Q4_K"));
  EngineOptions too_long = options();
  too_long.context_length = int64_t{1} << 50;
  EXPECT_THAT(refusal(too_long), HasSubstr("model doesn't fit"));
  EngineOptions no_store = options();
  no_store.kv_bytes = 1;
  EXPECT_THAT(refusal(no_store), HasSubstr("size of the KV store: expected at least 8.00 KiB for one page, found 1 B"));
}

TEST_F(TinyEngine, OutOfVocabularyAndTooLongAreRefusedAtOnce) {
  const std::unique_ptr<Engine> engine = load(options());
  GenerationRequest request = request_for(*engine, "hello", 0);
  request.prompt.push_back(kTinyVocabularySize);
  EXPECT_EQ(engine->submit(request, EventLog().sink()).error().code, ErrorCode::kInvalidArgument);
  request.prompt.assign(300, 1);
  EXPECT_EQ(engine->submit(request, EventLog().sink()).error().message, "prompt is too long: 300 tokens > 256 maximum");
}

TEST_F(TinyEngine, EveryKvTypeAnswers) {
  testing::TinyModel wide;  // heads of 32 hold blocks
  wide.n_vocab = kTinyVocabularySize;
  wide.n_heads = 2;
  wide.n_kv_heads = 1;
  wide.head_dim = 32;
  TinyFile file = testing::tiny_model(wide);
  testing::add_tiny_vocabulary(file);
  file.write(folder / "wide.gguf");
  for (const KvType& type : kKvTypes) {
    EngineOptions changed = options();
    changed.model_path = folder / "wide.gguf";
    changed.k_type = type.dtype;
    changed.v_type = type.dtype;
    const std::unique_ptr<Engine> engine = load(changed);
    EXPECT_NE(submit(*engine, request_for(*engine, "hello", 3)).done().reason, FinishReason::kCancelled);
  }
}

TEST_F(TinyEngine, ScratchCountsLogitsAndThreads) {
  const auto scratch_bytes = [this](int n_parallel, int n_threads) {
    EngineOptions changed = options();
    changed.n_parallel = n_parallel;
    changed.n_threads = n_threads;
    return load(changed)->scratch_bytes();
  };
  EXPECT_EQ(scratch_bytes(9, 1) - scratch_bytes(1, 1), 8u * 2u * kTinyVocabularySize * sizeof(float));
  EXPECT_GE(scratch_bytes(1, 3) - scratch_bytes(1, 1),
            2u * sizeof(float) * static_cast<uint64_t>(product_scratch_floats(512)));
}

TEST_F(TinyEngine, HeadsThatBlocksDontDivideAreRefusedByName) {
  EngineOptions changed = options();
  changed.v_type = DType::kQ8_0;
  EXPECT_THAT(refusal(changed), HasSubstr("V rows of layer 0 are 16 wide, expected a multiple of 32 for q8_0"));
}

TEST(BundledModel, IsTheDefaultOrSaysThatItIsAbsent) {
  EngineOptions options;
  options.context_length = 64;
  options.n_parallel = 2;
  const Result<std::unique_ptr<Engine>> engine = Engine::load(options);
  if (!bundled_model()) {
    EXPECT_THAT(engine.error().message, HasSubstr("no bundled model"));
    return;
  }
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->model_id(), "ferrox-demo");
  GenerationRequest request = request_for(**engine, "The capital of France is", 0);
  request.max_tokens = 4;
  EXPECT_EQ(submit(**engine, request).done().usage.prompt_tokens, static_cast<int64_t>(request.prompt.size()));
}

}  // namespace
}  // namespace ferrox
