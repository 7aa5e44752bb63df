// How does a test run the engine thread with a model that it can foresee? A loop, its pages, and the judge of its
// answers.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "engine/engine_loop.h"
#include "engine/memory_plan.h"
#include "kv/contiguous_memory.h"
#include "kv/paged_memory.h"
#include "support/event_log.h"
#include "support/fake_model.h"
#include "support/fake_vocabulary.h"

namespace ferrox::testing {

struct RigShape {
  int32_t page_rows = 4;
  int32_t n_pages = 64;
  int64_t context_length = 128;
  int32_t n_parallel = 4;
  int32_t batch_rows = 16;
  int32_t max_queue = 64;
  int window = 0;  ///< of the model's second layer; its kind then has n_pages pages too
  int64_t slide_interval = kSlideInterval;
  KvStorage storage = KvStorage::kPaged;
  int64_t trained_context = 256;
  int32_t call_opener = -1;
  PrefixCaching caching = PrefixCaching::kOn;
  FakeModel::State state = FakeModel::State::kNone;
  int32_t n_states = 12;
  TierOptions tiers = {};  ///< behind the store, when they keep anything
  uint8_t model_identity = 1;
  uint64_t slice_bytes = 1 << 20;
};

/// A model with an engine around it.
struct Rig {
  explicit Rig(const RigShape& shape = {}) : model(shape.batch_rows, shape.trained_context, shape.window, shape.state) {
    std::unique_ptr<KvMemory> memory = memory_of(shape);
    std::unique_ptr<PrefixArchive> archive = archive_of(shape, *memory);
    loop.emplace(model, fake_vocabulary(), std::move(memory),
                 EngineLoopOptions{.n_threads = 1,
                                   .context_length = shape.context_length,
                                   .n_parallel = shape.n_parallel,
                                   .batch_rows = shape.batch_rows,
                                   .max_queue = shape.max_queue,
                                   .default_max_tokens = 16,
                                   .default_timeout_ms = 0,
                                   .call_opener = shape.call_opener},
                 std::move(archive));
  }

  static std::unique_ptr<PrefixArchive> archive_of(const RigShape& shape, KvMemory& memory) {
    if (shape.tiers.host_bytes == 0 && shape.tiers.disk_folder.empty()) return nullptr;
    auto& paged = dynamic_cast<PagedMemory&>(memory);
    PageKey identity;
    identity.bytes.front() = shape.model_identity;
    auto tiers = PrefixTiers::open(tier_layout(paged.terms(), identity), shape.tiers);
    EXPECT_TRUE(tiers) << tiers.error().message;
    return std::make_unique<PrefixArchive>(*paged.prefix_cache(), std::move(*tiers), shape.slice_bytes);
  }

  std::unique_ptr<KvMemory> memory_of(const RigShape& shape) const {
    const KvLayout layout{model.shape().kv_layers, shape.page_rows, DType::kF32, DType::kF32,
                          model.shape().state_floats};
    if (shape.storage == KvStorage::kContiguous) {
      return *ContiguousMemory::create(layout, shape.context_length, shape.batch_rows);
    }
    KvTerms terms = terms_of(layout);
    terms.chunk_rows = shape.batch_rows;
    terms.slide_interval = shape.slide_interval;
    terms.n_pages.assign(terms.windows.size(), shape.n_pages);
    if (terms.has_state()) terms.n_pages.back() = shape.n_states;
    return *PagedMemory::create(layout, terms, shape.caching);
  }

  EventLog submit(GenerationRequest request) {
    EventLog log;
    const Result<RequestId> id = loop->submit(std::move(request), log.sink());
    EXPECT_TRUE(id) << id.error().message;
    last_id = id ? *id : 0;
    return log;
  }

  /// Answers to one prompt, or no ids when they are refused.
  struct Submitted {
    std::vector<RequestId> ids;
    std::vector<EventLog> logs;
  };
  Submitted submit_all(const std::vector<GenerationRequest>& requests) {
    Submitted submitted{{}, std::vector<EventLog>(requests.size())};
    std::vector<NewRequest> choices;
    for (size_t i = 0; i < requests.size(); ++i) choices.push_back({requests[i], submitted.logs[i].sink()});
    if (auto ids = loop->submit_all(std::move(choices))) submitted.ids = std::move(*ids);
    return submitted;
  }

  /// Every page is free again and nothing runs or waits.
  void expect_at_rest() {
    ASSERT_TRUE(loop->wait_idle(60000));
    const EngineStatus status = loop->status();
    EXPECT_EQ(status.n_pages_free + status.n_pages_cached, status.n_pages_total);
    EXPECT_EQ(status.n_running, 0);
    EXPECT_EQ(status.n_queued, 0);
  }

  FakeModel model;
  std::optional<EngineLoop> loop;
  RequestId last_id = 0;
};

inline GenerationRequest make_request(std::vector<int32_t> prompt, int64_t max_tokens, uint64_t seed = 1) {
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
inline std::vector<int32_t> judge_ids(const GenerationRequest& request, int64_t max_tokens) {
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

}  // namespace ferrox::testing
