// LFM2: most layers are gated short convolutions, the others attend as qwen3's do.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<GatedConvolution> read_convolution(WeightLoader& loader, const LayerSizes& sizes, int64_t n_taps,
                                          int64_t layer) {
  const std::string block = fmt::format("blk.{}.shortconv.", layer);
  GatedConvolution convolution;
  TRY_ASSIGN(convolution.in, loader.linear(block + "in_proj", sizes.n_embd, 3 * sizes.n_embd));
  TRY_ASSIGN(convolution.convolution, read_short_convolution(loader, block + "conv", n_taps, sizes.n_embd));
  TRY_ASSIGN(convolution.out, loader.linear(block + "out_proj", sizes.n_embd, sizes.n_embd));
  return convolution;
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.attention = AttentionHabit::kSomeLayers}));
  TRY_ASSIGN(const int64_t n_taps, loader.require_size("shortconv.l_cache"));
  TRY(loader.size_or("leading_dense_block_count", 0));  // all are
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes, "token_embd_norm"));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    const LayerSizes of_layer = sizes.of_layer(i);
    TRY_ASSIGN(DecoderLayer layer, begin_layer(loader, of_layer, i, {}));
    if (of_layer.n_kv_heads > 0) {
      TRY(add_attention(loader, of_layer, i, layer));
    } else {
      TRY_ASSIGN(layer.recurrence, read_convolution(loader, of_layer, n_taps, i));
    }
    TRY(add_mlp(loader, of_layer, i, layer));
    spec.layers.push_back(std::move(layer));
  }
  TRY(apply_windows(loader, sizes, {.period = 0}, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_lfm2;
const ArchSpec arch_lfm2 = {.gguf_name = "lfm2", .load = load};

}  // namespace ferrox
