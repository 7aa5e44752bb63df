// Mamba 2: layers of selective scans alone, without attention and without MLP.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.attention = AttentionHabit::kNoLayer}));
  TRY_ASSIGN(const RecurrenceSizes recurrence, read_recurrence_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    TRY_ASSIGN(DecoderLayer layer, begin_layer(loader, sizes.of_layer(i), i, {.mlp = nullptr}));
    TRY_ASSIGN(layer.recurrence, read_selective_scan(loader, sizes, recurrence, GroupNorm::kRequired, i));
    spec.layers.push_back(std::move(layer));
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_mamba2;
const ArchSpec arch_mamba2 = {.gguf_name = "mamba2", .load = load};

}  // namespace ferrox
