// Is a recurrent model's state all that it knows of the rows before, to the bit, and is a file that can't be such a
// model refused?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/loaded_model.h"
#include "support/model_runner.h"

namespace ferrox {
namespace {

using testing::even_chunks;
using testing::LoadedModel;
using testing::run_sequence;
using testing::SequencePages;
using testing::tiny_model;
using testing::TinyFile;

const std::vector<std::string>& recurrent_families() {
  static const std::vector<std::string> names = {"mamba2", "falcon-h1", "lfm2", "qwen3next"};
  return names;
}

const std::vector<int32_t> kLongText = {3, 17, 0, 44, 29, 3, 3, 11, 40, 7, 21, 2, 2, 9, 33, 61, 18, 5, 5, 70};

/// One of two texts on their ways through a model. Both have pages in one store, every second one.
class Reader {
 public:
  Reader(const Model& model, const SequencePages& store, size_t which)
      : state(static_cast<size_t>(model.shape().state_floats)), store_(store) {
    for (const PageTable& table : store.tables()) {
      std::vector<int32_t>& pages = pages_.emplace_back();
      for (size_t i = which; i < table.size(); i += 2) pages.push_back(table[i]);
    }
    tables_.assign(pages_.begin(), pages_.end());
  }

  BatchSegment next(int32_t n_rows) {
    const BatchSegment segment{n_rows, n_done_, tables_, state.data()};
    n_done_ += n_rows;
    return segment;
  }
  std::span<const KvLayerView> views() const { return store_.views(); }

  std::vector<float> state;

 private:
  const SequencePages& store_;
  std::vector<std::vector<int32_t>> pages_;
  std::vector<PageTable> tables_;
  int64_t n_done_ = 0;
};

SequencePages new_store(const Model& model) { return {model.shape(), 2 * std::ssize(kLongText), 4, DType::kF32}; }

/// Logits of the next n rows.
std::vector<float> read_on(Model& model, Reader& reader, int64_t first, int32_t n, ThreadPool& pool) {
  const BatchSegment segment = reader.next(n);
  std::vector<int32_t> rows;
  for (int32_t i = 0; i < n; ++i) rows.push_back(i);
  std::vector<float> logits(static_cast<size_t>(n * model.shape().n_vocab));
  const std::span<const int32_t> tokens(kLongText.data() + first, static_cast<size_t>(n));
  model.forward({tokens, {&segment, 1}, rows}, reader.views(), pool, logits.data());
  return logits;
}

TEST(RecurrentModels, ShapesSayWhatASequenceHolds) {
  const LoadedModel mamba({.architecture = "mamba2"});
  EXPECT_TRUE(mamba.model->shape().kv_layers.empty());
  // 64 + 2 * 2 * 12 channels of three rows each; 4 heads of 16 channels with 12 states.
  EXPECT_EQ(mamba.model->shape().state_floats, 2 * (3 * 112 + 64 * 12));
  const LoadedModel lfm({.architecture = "lfm2", .n_layers = 4});
  EXPECT_EQ(lfm.model->shape().kv_layers.size(), 2u);
  EXPECT_EQ(lfm.model->shape().state_floats, 2 * 2 * 64);
  EXPECT_EQ(LoadedModel({.architecture = "falcon-h1"}).model->shape().kv_layers.size(), 2u);
  EXPECT_EQ(LoadedModel({.architecture = "qwen3next", .n_layers = 3}).model->shape().kv_layers.size(), 1u);
  EXPECT_EQ(LoadedModel({.architecture = "llama"}).model->shape().state_floats, 0);
}

TEST(RecurrentModels, ChunksAndThreadsDontChangeBits) {
  for (const std::string& family : recurrent_families()) {
    for (const DType dtype : {DType::kF32, DType::kQ5_0}) {
      SCOPED_TRACE(family);
      const LoadedModel loaded({.architecture = family, .weights = dtype, .n_layers = 4, .n_experts = 0});
      ThreadPool one(1);
      const auto whole = run_sequence(*loaded.model, kLongText, {20}, 16, DType::kF32, one);
      EXPECT_TRUE(std::all_of(whole.begin(), whole.end(), [](float logit) { return std::isfinite(logit); }));
      for (const int n_threads : {1, 2, 3}) {
        ThreadPool pool(n_threads);
        EXPECT_EQ(run_sequence(*loaded.model, kLongText, {7, 1, 2, 10}, 4, DType::kF32, pool), whole) << n_threads;
        EXPECT_EQ(run_sequence(*loaded.model, kLongText, even_chunks(20, 1), 1, DType::kF32, pool), whole) << n_threads;
      }
    }
  }
}

/// After k tokens the state is copied; both copies go on to the same logits, and so does one whose pages are the
/// other's.
TEST(RecurrentModels, CopiesOfAStateGoOnAlike) {
  for (const std::string& family : recurrent_families()) {
    SCOPED_TRACE(family);
    const LoadedModel loaded({.architecture = family, .n_layers = 4});
    ThreadPool pool(2);
    const SequencePages store = new_store(*loaded.model);
    Reader whole(*loaded.model, store, 0);
    const auto logits = read_on(*loaded.model, whole, 0, 20, pool);
    const std::vector<float> want(logits.end() - 10 * loaded.model->shape().n_vocab, logits.end());
    Reader first(*loaded.model, store, 0);
    Reader second(*loaded.model, store, 1);
    read_on(*loaded.model, first, 0, 10, pool);
    read_on(*loaded.model, second, 0, 10, pool);
    second.state = first.state;
    EXPECT_EQ(read_on(*loaded.model, first, 10, 10, pool), want);
    EXPECT_EQ(read_on(*loaded.model, second, 10, 10, pool), want);
    EXPECT_EQ(second.state, whole.state);
  }
}

TEST(RecurrentModels, SequencesOfOneBatchDontMeet) {
  for (const std::string& family : recurrent_families()) {
    SCOPED_TRACE(family);
    const LoadedModel loaded({.architecture = family});
    ThreadPool pool(2);
    const auto whole = run_sequence(*loaded.model, kLongText, {20}, 4, DType::kF32, pool);
    const auto n_vocab = static_cast<size_t>(loaded.model->shape().n_vocab);
    const SequencePages store = new_store(*loaded.model);
    Reader a(*loaded.model, store, 0);
    Reader b(*loaded.model, store, 1);
    std::vector<float> got_a;
    std::vector<float> got_b;
    for (int64_t done = 0; done < 20; done += 4) {
      const BatchSegment segments[] = {a.next(4), b.next(4)};
      std::vector<int32_t> tokens;
      for (int twice = 0; twice < 2; ++twice) {
        tokens.insert(tokens.end(), kLongText.begin() + done, kLongText.begin() + done + 4);
      }
      const std::vector<int32_t> rows = {0, 1, 2, 3, 4, 5, 6, 7};
      std::vector<float> logits(8 * n_vocab);
      loaded.model->forward({tokens, segments, rows}, store.views(), pool, logits.data());
      const auto middle = logits.begin() + static_cast<ptrdiff_t>(4 * n_vocab);
      got_a.insert(got_a.end(), logits.begin(), middle);
      got_b.insert(got_b.end(), middle, logits.end());
    }
    EXPECT_EQ(got_a, whole);
    EXPECT_EQ(got_b, whole);
  }
}

class RecurrentLoader : public ::testing::Test {
 protected:
  std::string load_error(const TinyFile& file) {
    const auto path = folder_ / "model.gguf";
    file.write(path);
    const auto opened = GgufFile::open(path);
    if (!opened) return opened.error().message;
    const auto model = load_model(*opened, {.max_batch_rows = 8});
    return model ? "" : model.error().message;
  }

  testing::TempFolder folder_;
};

TEST_F(RecurrentLoader, NoTensorMayBeMissingOrLeftOver) {
  for (const std::string& family : recurrent_families()) {
    TinyFile whole = tiny_model({.architecture = family});
    EXPECT_EQ(load_error(whole), "");
    for (const TinyFile::Tensor& tensor : whole.tensors) {
      const std::string& name = tensor.name;
      const bool is_optional = name == "output.weight" || name.ends_with("_q_norm.weight") ||
                               name.ends_with("_k_norm.weight") || name.ends_with("conv1d.bias") ||
                               (family == "falcon-h1" && name.ends_with("ssm_norm.weight"));
      if (is_optional) continue;
      TinyFile file = whole;
      file.remove(name);
      EXPECT_NE(load_error(file), "") << family << " without " << name;
    }
    whole.add_floats("blk.0.ssm_x.weight", {4}, {1, 2, 3, 4});
    EXPECT_NE(load_error(whole).find("blk.0.ssm_x.weight"), std::string::npos);
  }
}

/// Sizes of every key of recurrence: none, ones that divide nothing, and huge ones.
TEST_F(RecurrentLoader, ImpossibleSizesAreRefused) {
  for (const std::string& family : recurrent_families()) {
    const TinyFile whole = tiny_model({.architecture = family});
    for (const char* key : {"ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.time_step_rank",
                            "ssm.group_count", "shortconv.l_cache"}) {
      if (!whole.keys.contains(family + "." + key)) continue;
      for (const uint32_t size : {0u, 1u, 3u, 7u, 63u, 65u, 1u << 24, (1u << 24) + 1, 0xffffffffu}) {
        TinyFile file = whole;
        if (std::get<uint32_t>(file.keys.at(family + "." + key)) == size) continue;
        file.keys[family + "." + key] = size;
        EXPECT_NE(load_error(file), "") << family << "." << key << " = " << size;
      }
      TinyFile file = whole;
      file.keys.erase(family + "." + key);
      EXPECT_NE(load_error(file), "") << family << " without " << key;
    }
  }
}

TEST_F(RecurrentLoader, AHybridsLayersMayAllBeOfOneKind) {
  EXPECT_EQ(load_error(tiny_model({.architecture = "lfm2", .n_layers = 1})), "") << "no layer attends";
  EXPECT_EQ(load_error(tiny_model({.architecture = "qwen3next", .n_layers = 1})), "") << "no layer attends";
}

TEST_F(RecurrentLoader, ListsOfRecurrentLayersCount) {
  TinyFile file = tiny_model({.architecture = "qwen3next", .n_layers = 4});
  file.keys.erase("qwen3next.full_attention_interval");
  file.keys["qwen3next.attention.recurrent_layers"] = std::vector<int32_t>{1, 0, 1, 0};
  EXPECT_EQ(load_error(file), "");
  file.keys["qwen3next.attention.recurrent_layers"] = std::vector<int32_t>{1, 0, 1};
  EXPECT_NE(load_error(file), "") << "one is missing";
}

}  // namespace
}  // namespace ferrox
