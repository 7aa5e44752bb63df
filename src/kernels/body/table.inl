// Fills an ISA's table from the bodies and from every file in tensor/formats. Included after the ISA's vec.h; its
// products are other files' (products.inl), declared in the generated products_list.inl.
#include <utility>

#include "formats_list.inl"
#include "kernels/kernel_table.h"
#include "kernels/recurrence_args.h"
#include "products_list.inl"

#include "kernels/body/lanes.inl"

#include "kernels/body/math.inl"
#include "kernels/body/quantize.inl"
#include "kernels/body/rows.inl"

#include "kernels/body/recurrence.inl"

#include "kernels/body/kv_rows.inl"

#include "kernels/body/attention_rows.inl"

#include "kernels/body/attention_scores.inl"

#include "kernels/body/attention.inl"
#include "kernels/body/limits.inl"

#ifdef FERROX_ISA_PEAK_INT8
#include FERROX_ISA_PEAK_INT8
#else
#include "kernels/body/peak_int8.inl"
#endif

namespace ferrox {
namespace {

template <class Format>
constexpr ActKind act_kind() {
  return Format::kScale == ScaleKind::kFloat     ? ActKind::kFloat
         : Format::kScale == ScaleKind::kInteger ? ActKind::kInt8
                                                 : ActKind::kInt8Pow2;
}

#define FORMAT(f) {f::kType, act_kind<f>(), f::kBlock, f::kBytes, PRODUCT(f)},
constexpr FormatKernels kFormats[] = {ALL_FORMATS{DType::kF32, ActKind::kFloat, 0, 0, nullptr}};
#undef FORMAT

constexpr KernelTable make_table(const char* name, int rank) {
  KernelTable table{};
  table.name = name;
  table.rank = rank;
  table.supported = isa_supported;
  table.formats = kFormats;
  table.quantize = quantize;
  table.attend = attend;
  table.join_attention = join_attention;
  table.rms_norm = rms_norm;
  table.layer_norm = layer_norm;
  table.l2_norm = l2_norm;
  table.add = add_row;
  table.mul = mul_row;
  table.scale = scale_row;
  table.add_scaled = add_scaled;
  table.silu_mul = silu_mul;
  table.gelu_mul = gelu_mul;
  table.gelu = gelu;
  table.clamped_silu_mul = clamped_silu_mul;
  table.silu = silu_row;
  table.sigmoid = sigmoid_row;
  table.softplus = softplus_row;
  table.relu_squared = relu_squared;
  table.softmax = softmax;
  table.soft_cap = soft_cap;
  table.clamp = clamp_row;
  table.find_decays = find_decays;
  table.convolve = convolve;
  table.scan = scan;
  table.scan_channels = scan_channels;
  table.delta_rule = delta_rule;
  table.store_row = store_row;
  table.load_row = load_row;
  table.peak_int8 = peak_int8;
  table.peak_f32 = peak_f32;
  table.peak_read = peak_read;
  return table;
}

}  // namespace
}  // namespace ferrox
