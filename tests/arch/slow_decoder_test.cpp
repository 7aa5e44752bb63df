// Does each family compute what the plain double-precision forward pass does, in every weight format and head size?
#include <gtest/gtest.h>

#include "support/loaded_model.h"
#include "support/model_runner.h"
#include "support/slow_decoder.h"

namespace ferrox {
namespace {

using testing::LoadedModel;
using testing::SlowDecoder;
using testing::TinyModel;

const std::vector<int32_t> kTokens = {3, 17, 0, 44, 29, 3, 3, 11, 40, 7, 21};

/// Mean squared error over mean square.
double error_of(const TinyModel& description) {
  const LoadedModel loaded(description);
  ThreadPool pool(1);
  const auto got = testing::run_sequence(*loaded.model, kTokens, {4, 1, 6}, 4, DType::kF32, pool);
  const auto want = SlowDecoder(description, loaded.tiny).logits(kTokens);
  double error = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  EXPECT_GT(size, 0.0);
  return error / size;
}

/// Float weights: float roundings alone, about 1e-7 each.
constexpr double kFloatError = 1e-10;
/// Codes meet activations of 8 bits, each off by up to half of 1 / 127 of its block's largest: about a hundredth of a
/// typical one, squared, and what a few layers make of it.
constexpr double kInt8Error = 3e-3;

TEST(SlowDecoder, FamiliesAgree) {
  for (const char* family : {"llama", "qwen2", "qwen3"}) {
    SCOPED_TRACE(family);
    EXPECT_LT(error_of({.architecture = family}), kFloatError);
    EXPECT_LT(error_of({.architecture = family, .has_output = false}), kFloatError) << "tied output";
    EXPECT_LT(error_of({.architecture = family, .n_experts = 5}), kFloatError) << "experts";
    EXPECT_LT(error_of({.architecture = family, .n_kv_heads = 4}), kFloatError) << "a KV head for each head";
    EXPECT_LT(error_of({.architecture = family, .n_kv_heads = 1}), kFloatError) << "one KV head";
  }
}

/// Gemma 2: norms around each block, soft caps, GELU, and a window that is shorter than the text in every second layer.
TEST(SlowDecoder, WindowsCapsAndPostNormsAgree) {
  for (const int window : {0, 1, 3, 8, 100}) {
    SCOPED_TRACE(window);
    EXPECT_LT(error_of({.architecture = "gemma2", .n_layers = 3, .window = window}), kFloatError);
  }
}

/// As in Mistral-Nemo, whose heads are wider than n_embd / n_heads, or narrower.
TEST(SlowDecoder, HeadSizesAreTheFiles) {
  for (const int head_dim : {8, 20, 32, 48, 128}) {
    EXPECT_LT(error_of({.head_dim = head_dim}), kFloatError) << head_dim;
    EXPECT_LT(error_of({.architecture = "qwen3", .n_embd = 80, .head_dim = head_dim}), kFloatError) << head_dim;
  }
}

/// More query heads on one KV head than one call of the kernel takes.
TEST(SlowDecoder, ManyHeadsShareAKvHead) {
  EXPECT_LT(error_of({.n_heads = 40, .n_kv_heads = 1, .head_dim = 8}), kFloatError);
  EXPECT_LT(error_of({.n_heads = 12, .n_kv_heads = 2, .head_dim = 8}), kFloatError);
}

TEST(SlowDecoder, EveryFormatAgrees) {
  for (const auto* const* format = all_format; *format != nullptr; ++format) {
    const bool is_float = (*format)->block_elements == 1;
    const double error = error_of({.weights = (*format)->dtype,
                                   .embedding = (*format)->dtype,
                                   .n_layers = 1,
                                   .n_embd = 256,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 128,
                                   .n_ff = 256,
                                   .n_vocab = 48});
    EXPECT_LT(error, is_float ? kFloatError : kInt8Error) << (*format)->name;
  }
}

}  // namespace
}  // namespace ferrox
