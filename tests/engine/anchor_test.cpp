// Does the KV memory hear of the token that opens a tool call, once it stands in the answer?
#include <gtest/gtest.h>

#include "support/loop_rig.h"

namespace ferrox {
namespace {

using testing::EventLog;
using testing::fake_vocabulary;
using testing::FakeModel;
using testing::judge_ids;
using testing::make_request;

/// One request's memory that notes what it is told.
class NotingKv : public RequestKv {
 public:
  NotingKv(std::unique_ptr<RequestKv> kv, std::vector<int64_t>& anchors) : kv_(std::move(kv)), anchors_(anchors) {}
  int64_t length() const override { return kv_->length(); }
  std::span<const PageTable> begin_step(int64_t n_rows) override { return kv_->begin_step(n_rows); }
  void end_step(std::span<const int32_t> tokens) override { kv_->end_step(tokens); }
  void observe_anchor(int64_t length) override { anchors_.push_back(length); }
  std::vector<std::unique_ptr<RequestKv>> fork_choices(int64_t n) override { return kv_->fork_choices(n); }

 private:
  std::unique_ptr<RequestKv> kv_;
  std::vector<int64_t>& anchors_;
};

class NotingMemory : public KvMemory {
 public:
  NotingMemory(std::unique_ptr<KvMemory> memory, std::vector<int64_t>& anchors)
      : memory_(std::move(memory)), anchors_(anchors) {}
  const KvTerms& terms() const override { return memory_->terms(); }
  std::span<const KvLayerView> layers() override { return memory_->layers(); }
  std::unique_ptr<RequestKv> take(const KvDemand& demand) override {
    return std::make_unique<NotingKv>(memory_->take(demand), anchors_);
  }
  std::vector<int32_t> n_free() const override { return memory_->n_free(); }
  uint64_t size_bytes() const override { return memory_->size_bytes(); }
  void check_integrity() const override { memory_->check_integrity(); }

 private:
  std::unique_ptr<KvMemory> memory_;
  std::vector<int64_t>& anchors_;
};

/// Lengths at which the memory heard of `opener` while the request was answered.
std::vector<int64_t> anchors_of(const GenerationRequest& request, int32_t opener) {
  std::vector<int64_t> anchors;
  FakeModel model;
  const KvLayout layout{model.shape().kv_layers, 4, DType::kF32, DType::kF32};
  auto memory = std::make_unique<NotingMemory>(*ContiguousMemory::create(layout, 128, 16), anchors);
  EngineLoop loop(model, fake_vocabulary(), std::move(memory),
                  {.n_threads = 1,
                   .context_length = 128,
                   .n_parallel = 1,
                   .batch_rows = 16,
                   .max_queue = 4,
                   .default_max_tokens = 16,
                   .default_timeout_ms = 0,
                   .call_opener = opener});
  EventLog log;
  EXPECT_TRUE(loop.submit(request, log.sink()));
  log.wait();
  return anchors;
}

TEST(Anchor, IsTheLengthWithTheOpenerInIt) {
  const GenerationRequest request = make_request({1, 2, 3, 4, 5}, 20);
  const std::vector<int32_t> answer = judge_ids(request, 20);
  const int32_t opener = answer[7];
  std::vector<int64_t> expected;
  for (size_t i = 0; i + 1 < answer.size(); ++i) {
    if (answer[i] == opener) expected.push_back(static_cast<int64_t>(5 + i + 1));
  }
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(anchors_of(request, opener), expected);
}

TEST(Anchor, ATokenThatEndsTheAnswerIsNone) {
  GenerationRequest request = make_request({1, 2, 3, 4, 5}, 8);
  const std::vector<int32_t> answer = judge_ids(request, 8);
  const int32_t last = answer.back();
  ASSERT_EQ(std::count(answer.begin(), answer.end(), last), 1);
  EXPECT_TRUE(anchors_of(request, last).empty()) << "the limit ended it";
  request.max_tokens = 20;
  request.stop_tokens = {last};
  EXPECT_TRUE(anchors_of(request, last).empty()) << "a stop token ended it";
}

TEST(Anchor, FamiliesWithoutOneHaveNone) {
  EXPECT_TRUE(anchors_of(make_request({1, 2, 3}, 30), -1).empty());
  GenerationRequest request = make_request({1, 2, 3}, 30);
  request.sampling.logit_bias.emplace_back(17, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(anchors_of(request, 17).empty()) << "the opener was never said";
  request = make_request({17, 17, 17}, 5);
  request.sampling.logit_bias.emplace_back(17, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(anchors_of(request, 17).empty()) << "a call of the prompt is no call of this turn";
}

}  // namespace
}  // namespace ferrox
