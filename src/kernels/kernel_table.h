// What can an instruction set do? One table of plain functions; every table computes the same bits.
//
// Products. A weight matrix of N rows of K weights is multiplied with M activation rows. Block formats see activations
// as int8 (ActBlock), float formats as they are. out[m][n] = sum over K-blocks of 256, in ascending order, of the
// block's sum; weights, activations and the order of every addition depend on (m, n) alone, never on M or N.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/kv_view.h"

namespace ferrox {

/// Weights that share an activation block, and the unit of the sum along K.
inline constexpr int kKBlock = 256;

/// How a format wants its activations.
enum class ActKind : uint8_t {
  kFloat,     ///< as they are
  kInt8,      ///< one scale per 256
  kInt8Pow2,  ///< one scale per 256, times a power of two per 32: for formats whose own scales are floats
};

/// 256 activations of one row as int8: x[k] ~ d * 2^shift[k / 32] * q[k].
/// Blocks of M rows are stored [K / 256][M], so that a K-block of all rows is contiguous. Five lines a block, an odd
/// number: rows that are read side by side don't fall on the same bank of the cache.
struct alignas(64) ActBlock {
  int8_t q[256];
  int16_t sum16[16];  ///< sum of q of each 16, in pairs for a 16-bit multiply-add
  int16_t sum32[8];   ///< sum of q of each 32
  uint8_t shift[8];   ///< 0 to 8; all 0 for kInt8
  float d;
};
static_assert(sizeof(ActBlock) == 5 * 64);

/// One range of weight rows times all activation rows.
struct ProductArgs {
  const std::byte* weights;  ///< first row of the range
  int64_t row_bytes;
  int64_t n_rows;        ///< weight rows in the range
  int64_t k;             ///< weights a row
  const ActBlock* acts;  ///< [ceil(k / 256)][acts_stride] for block formats, of which m are multiplied
  int64_t acts_stride;
  const float* x;  ///< [m] rows of x_stride floats for float formats
  int64_t x_stride;
  int64_t m;   ///< activation rows
  float* out;  ///< out[row * out_stride + n], n in [0, n_rows)
  int64_t out_stride;
  float* scratch;  ///< product_scratch_floats(m) floats, 64-byte aligned, of this thread
  const std::byte* next =
      nullptr;  ///< what the thread will probably multiply after these, or nullptr: a few rows are asked for
};

/// Tiles of 32 weight rows that share one walk along K.
inline constexpr int64_t kProductTiles = 4;

/// Scratch that a product of m activation rows needs, in floats.
constexpr int64_t product_scratch_floats(int64_t m) { return m * 32 * kProductTiles; }

/// A weight format's entry.
struct FormatKernels {
  DType dtype;
  ActKind act_kind;
  int block_elements;
  int block_bytes;
  void (*product)(const ProductArgs& args);
};

/// Query rows of one KV head that attend together. Row i of head h reads q + i * q_stride + h * head_stride.
/// Rows of K and V: positions [first, last) of one KV head.
struct KvRows {
  PageTable pages{};
  int kv_head = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct AttentionArgs {
  KvLayerView kv;
  PageTable pages;
  int kv_head;
  int n_heads;            ///< query heads of this KV head
  const float* q;         ///< first row's first head of this group, [k_dim]
  int64_t q_row_stride;   ///< floats between rows
  int64_t q_head_stride;  ///< floats between heads
  float* out;             ///< like q, heads of [v_dim]
  int64_t out_row_stride;
  int64_t out_head_stride;
  int n_rows;                     ///< at most kAttentionRows / n_heads rounded down, at least 1
  int64_t first_position;         ///< row i is position first_position + i and reads positions 0 .. its own
  int window;                     ///< trailing positions read, itself included; 0: all
  float scale;                    ///< of q . k
  float softcap;                  ///< cap * tanh(score / cap); 0: none
  const float* sinks = nullptr;   ///< [n_heads] scores that take weight and give no value; nullptr: none
  const float* slopes = nullptr;  ///< [n_heads] taken off a score for each position of distance (ALiBi); nullptr: none
  float* scratch;                 ///< attention_scratch_floats(kv.k_dim, kv.v_dim) floats, 64-byte aligned
  /// Where `attend` leaves the spans [first_span, last_span) for `join_attention`, all of which hold a position that
  /// some row reads: [span][row][head][attention_part_floats(v_dim)]. nullptr: it reads all spans and writes `out`
  /// itself.
  float* parts = nullptr;
  int64_t first_span = 0;
  int64_t last_span = 0;
  /// Up to kAttentionTile rows that the call after this one begins with: asked for meanwhile. Changes no result.
  KvRows next;
};

/// Positions that are scored together. Tiles start at absolute multiples of it.
inline constexpr int kAttentionTile = 64;
/// Tiles that are combined on their own before they join the rest, so that threads may share a long context.
inline constexpr int kAttentionSpanTiles = 8;
/// Positions of a span.
inline constexpr int kAttentionSpan = kAttentionTile * kAttentionSpanTiles;
/// Query vectors (rows x heads) that share one pass over K and V: enough that widening the rows costs little beside the
/// multiplications, few enough that what they hold stays in the second cache.
inline constexpr int kAttentionRows = 64;

constexpr int64_t round_up_16(int64_t n) { return (n + 15) / 16 * 16; }

constexpr int64_t attention_scratch_floats(int64_t k_dim, int64_t v_dim) {
  return (16 + kAttentionTile) * round_up_16(k_dim) + kAttentionTile * round_up_16(v_dim) +
         kAttentionRows * kAttentionTile + kAttentionRows * (round_up_16(k_dim) + 2 * round_up_16(v_dim));
}

/// What a query keeps of a span: its weighted V, maximum and sum.
constexpr int64_t attention_part_floats(int64_t v_dim) { return round_up_16(v_dim) + 16; }

/// Arguments of recurrent layers (recurrence_args.h).
struct ConvolutionArgs;
struct ScanArgs;
struct ChannelScanArgs;
struct DeltaRuleArgs;

/// One instruction set.
struct KernelTable {
  const char* name;
  int rank;  ///< the highest rank that is supported wins
  bool (*supported)();
  const FormatKernels* formats;  ///< ended by a row whose product is nullptr

  /// Quantises n floats (n > 0) into ceil(n / 256) blocks, block_stride blocks apart; the last is padded with zeros.
  void (*quantize)(const float* x, int64_t n, ActKind kind, ActBlock* out, int64_t block_stride);

  void (*attend)(const AttentionArgs& args);
  /// Joins the parts that calls of `attend` left, in order of position, and writes `out`: the bits of one call.
  void (*join_attention)(const AttentionArgs& args);

  /// out = x / sqrt(mean(x^2) + epsilon) * weight; weight may be nullptr (ones).
  void (*rms_norm)(const float* x, const float* weight, float epsilon, int64_t n, float* out);
  /// out = (x - mean) / sqrt(variance + epsilon) * weight + bias; both may be nullptr.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float epsilon, int64_t n, float* out);

  /// out = factor * x / max(sqrt(sum(x^2)), epsilon).
  void (*l2_norm)(const float* x, float factor, float epsilon, int64_t n, float* out);

  void (*add)(const float* x, int64_t n, float* inout);                         ///< inout += x
  void (*mul)(const float* x, int64_t n, float* inout);                         ///< inout *= x
  void (*scale)(float factor, int64_t n, float* inout);                         ///< inout *= factor
  void (*add_scaled)(const float* x, float factor, int64_t n, float* inout);    ///< inout += factor * x, one rounding
  void (*silu_mul)(const float* gate, const float* up, int64_t n, float* out);  ///< gate * sigmoid(gate) * up
  void (*gelu_mul)(const float* gate, const float* up, int64_t n, float* out);  ///< gelu_tanh(gate) * up
  void (*gelu)(int64_t n, float* inout);                                        ///< gelu_tanh(inout)
  /// g * sigmoid(1.702 g) * (u + 1), where g is gate up to 7 and u is up in [-7, 7]: OpenAI's gpt-oss.
  void (*clamped_silu_mul)(const float* gate, const float* up, int64_t n, float* out);
  void (*silu)(int64_t n, float* inout);  ///< inout * sigmoid(inout)
  void (*sigmoid)(int64_t n, float* inout);
  void (*softplus)(int64_t n, float* inout);      ///< ln(1 + e^inout)
  void (*relu_squared)(int64_t n, float* inout);  ///< max(inout, 0)^2
  void (*softmax)(int64_t n, float* inout);
  void (*soft_cap)(float cap, int64_t n, float* inout);  ///< cap * tanh(inout / cap)
  void (*clamp)(float limit, int64_t n, float* inout);   ///< to [-limit, limit]

  /// steps = softplus(steps + bias), decays = e^(rate * steps).
  void (*find_decays)(float bias, float rate, int64_t n, float* steps, float* decays);
  void (*convolve)(const ConvolutionArgs& args);
  void (*scan)(const ScanArgs& args);
  void (*scan_channels)(const ChannelScanArgs& args);
  void (*delta_rule)(const DeltaRuleArgs& args);

  /// Writes floats as one of the element types of KV memory, and back. Block types want n to be a multiple of 32; a
  /// block that holds a NaN or an infinity becomes NaN. A row of turbo4 is rotated (see kv_rows.inl) and comes back so.
  void (*store_row)(const float* x, int64_t n, DType dtype, std::byte* out);
  void (*load_row)(const std::byte* x, int64_t n, DType dtype, float* out);

  /// What one core can do at most: loops that return the operations done (a multiply-add is two) or the bytes read.
  int64_t (*peak_int8)(int64_t n_rounds);
  int64_t (*peak_f32)(int64_t n_rounds);
  int64_t (*peak_read)(const std::byte* bytes, int64_t n_bytes);
};

/// Every ISA compiled in, in name order, ended by nullptr.
extern const KernelTable* const all_isas[];

}  // namespace ferrox
