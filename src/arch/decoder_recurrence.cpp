// How are recurrent layers read from a file?
#include "arch/decoder_parts.h"
#include "kernels/kernel_table.h"

namespace ferrox {
namespace {

/// A state that no machine holds is refused before anything multiplies its size further.
constexpr int64_t kMostStateFloats = int64_t{1} << 40;

Result<std::vector<float>> read_head_numbers(WeightLoader& loader, const std::string& name, int64_t n_heads) {
  return loader.floats(name, {1, static_cast<uint64_t>(n_heads)});
}

Result<Norm> read_group_norm(WeightLoader& loader, const std::string& name, const RecurrenceSizes& recurrence,
                             const NormStyle& style, GroupNorm need) {
  Norm norm;
  if (need == GroupNorm::kOptional && !loader.has_tensor(name)) return norm;
  norm.epsilon = style.epsilon;
  TRY_ASSIGN(norm.weight, loader.floats(name, {static_cast<uint64_t>(recurrence.n_inner / recurrence.n_groups),
                                               static_cast<uint64_t>(recurrence.n_groups)}));
  return norm;
}

}  // namespace

Result<RecurrenceSizes> read_recurrence_sizes(WeightLoader& loader) {
  RecurrenceSizes sizes;
  TRY_ASSIGN(sizes.n_taps, loader.require_size("ssm.conv_kernel"));
  TRY_ASSIGN(sizes.n_inner, loader.require_size("ssm.inner_size"));
  TRY_ASSIGN(sizes.n_states, loader.require_size("ssm.state_size"));
  TRY_ASSIGN(sizes.n_heads, loader.require_size("ssm.time_step_rank"));
  TRY_ASSIGN(sizes.n_groups, loader.require_size("ssm.group_count"));
  if (sizes.n_inner % sizes.n_heads != 0 || sizes.n_heads % sizes.n_groups != 0) {
    return make_error(ErrorCode::kCorrupt,
                      "{}: {}.ssm: expected inner_size to be a multiple of time_step_rank and that of group_count, "
                      "found {}, {} and {}",
                      loader.file().name(), loader.architecture(), sizes.n_inner, sizes.n_heads, sizes.n_groups);
  }
  if (round_up_16(sizes.n_inner / sizes.n_heads) * sizes.n_heads > kMostStateFloats / sizes.n_states) {
    return make_error(ErrorCode::kUnsupported, "{}: {}.ssm: expected a state of up to 2^40 numbers, found {} x {}",
                      loader.file().name(), loader.architecture(), sizes.n_inner, sizes.n_states);
  }
  return sizes;
}

Result<ShortConvolution> read_short_convolution(WeightLoader& loader, const std::string& name, int64_t n_taps,
                                                int64_t n_channels) {
  if (n_taps < 2) {
    return make_error(ErrorCode::kCorrupt, "{}: tensor {}: expected a convolution of at least 2 rows, found {}",
                      loader.file().name(), name, n_taps);
  }
  ShortConvolution convolution;
  convolution.n_taps = n_taps;
  convolution.n_channels = n_channels;
  TRY_ASSIGN(const std::vector<float> by_channel,
             loader.floats(name + ".weight", {static_cast<uint64_t>(n_taps), static_cast<uint64_t>(n_channels)}));
  convolution.weights.resize(by_channel.size());
  for (int64_t channel = 0; channel < n_channels; ++channel) {
    for (int64_t tap = 0; tap < n_taps; ++tap) {
      convolution.weights[static_cast<size_t>(tap * n_channels + channel)] =
          by_channel[static_cast<size_t>(channel * n_taps + tap)];
    }
  }
  if (loader.has_tensor(name + ".bias")) {
    TRY_ASSIGN(convolution.bias, loader.vector(name + ".bias", n_channels));
  }
  return convolution;
}

Result<SelectiveScan> read_selective_scan(WeightLoader& loader, const LayerSizes& sizes,
                                          const RecurrenceSizes& recurrence, GroupNorm norm, int64_t layer) {
  const std::string block = fmt::format("blk.{}.", layer);
  SelectiveScan scan;
  scan.n_heads = recurrence.n_heads;
  scan.head_dim = recurrence.n_inner / recurrence.n_heads;
  scan.n_groups = recurrence.n_groups;
  scan.n_states = recurrence.n_states;
  const int64_t n_channels = recurrence.n_inner + 2 * recurrence.n_groups * recurrence.n_states;
  TRY_ASSIGN(scan.in,
             loader.linear(block + "ssm_in", sizes.n_embd, recurrence.n_inner + n_channels + recurrence.n_heads));
  TRY_ASSIGN(scan.convolution, read_short_convolution(loader, block + "ssm_conv1d", recurrence.n_taps, n_channels));
  TRY_ASSIGN(scan.step_bias, loader.vector(block + "ssm_dt.bias", recurrence.n_heads));
  TRY_ASSIGN(scan.rate, read_head_numbers(loader, block + "ssm_a", recurrence.n_heads));
  TRY_ASSIGN(scan.skip, read_head_numbers(loader, block + "ssm_d", recurrence.n_heads));
  TRY_ASSIGN(scan.norm, read_group_norm(loader, block + "ssm_norm.weight", recurrence, sizes.norm, norm));
  TRY_ASSIGN(scan.out, loader.linear(block + "ssm_out", recurrence.n_inner, sizes.n_embd));
  return scan;
}

}  // namespace ferrox
