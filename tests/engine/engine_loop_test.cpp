// Does the engine thread serve every request to its end, the same whatever else runs?
#include "engine/engine_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/event_log.h"
#include "support/fake_model.h"
#include "support/fake_vocabulary.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using testing::EventLog;
using testing::fake_vocabulary;
using testing::FakeModel;
using testing::kEndToken;

struct Setup {
  int32_t page_rows = 4;
  int32_t n_pages = 64;
  int64_t context_length = 128;
  int32_t n_parallel = 4;
  int32_t batch_rows = 16;
  int32_t max_queue = 64;
};

/// A model with an engine around it.
struct Rig {
  explicit Rig(const Setup& setup = {}) : model(setup.batch_rows) {
    const KvLayout layout{model.shape().kv_layers, setup.page_rows, DType::kF32, DType::kF32};
    loop.emplace(model, fake_vocabulary(), *PagedStore::create(layout, setup.n_pages),
                 EngineLoopOptions{.n_threads = 1,
                                   .context_length = setup.context_length,
                                   .n_parallel = setup.n_parallel,
                                   .batch_rows = setup.batch_rows,
                                   .max_queue = setup.max_queue,
                                   .default_max_tokens = 16,
                                   .default_timeout_ms = 0});
  }

  EventLog submit(GenerationRequest request) {
    EventLog log;
    const Result<RequestId> id = loop->submit(std::move(request), log.sink());
    EXPECT_TRUE(id) << id.error().message;
    last_id = id ? *id : 0;
    return log;
  }

  FakeModel model;
  std::optional<EngineLoop> loop;
  RequestId last_id = 0;
};

GenerationRequest make_request(std::vector<int32_t> prompt, int64_t max_tokens, uint64_t seed = 1) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.sampling.seed = seed;
  request.sampling.top_k = 0;
  request.sampling.logit_bias = {{kEndToken, -std::numeric_limits<float>::infinity()},
                                 {FakeModel::kPoison, -std::numeric_limits<float>::infinity()}};
  return request;
}

/// The answer by the token loop alone: whole sequence in, no pages, no batch, no thread.
std::vector<int32_t> judge_ids(const GenerationRequest& request, int64_t max_tokens) {
  const LoopVocabulary vocabulary = fake_vocabulary();
  TokenLoop loop = *TokenLoop::create(request, max_tokens, vocabulary);
  std::vector<int32_t> ids;
  for (;;) {
    std::vector<float> logits(FakeModel::kVocab);
    FakeModel::fill_logits({loop.tokens().begin(), loop.tokens().end()}, logits.data());
    const TokenLoop::Outcome outcome = *loop.take_logits(logits);
    if (outcome.token) ids.push_back(outcome.token->id);
    if (outcome.finished) return ids;
  }
}

TEST(EngineLoop, AnswersAsTheTokenLoopAloneDoes) {
  Rig rig;
  const GenerationRequest request = make_request({1, 2, 3, 4, 5}, 20);
  EventLog log = rig.submit(request);
  EXPECT_EQ(log.ids(), judge_ids(request, 20));
  EXPECT_EQ(log.done().reason, FinishReason::kLength);
  EXPECT_EQ(log.done().usage.prompt_tokens, 5);
  EXPECT_EQ(log.done().usage.completion_tokens, 20);
}

}  // namespace
}  // namespace ferrox
