// How do 16 rows of a weight format become lanes? A panel holds one K-block of 16 rows, transposed: lane r of every
// vector is row r. Block formats: codes, scales and mins; float formats: floats.
//
//   codes[k / 4][row][k % 4]: u8      scale[sub][row]      min: as the scale kind says      d[row], dmin[row]
namespace ferrox {
namespace {

/// What a product must know of a format: the micro-kernels are made once a shape, not once a format.
template <ScaleKind kKindValue, int kSubValue, bool kHasMinValue, int kZeroValue, int kWordStepsValue>
struct Shape {
  static constexpr ScaleKind kKind = kKindValue;
  static constexpr int kSub = kSubValue;
  static constexpr int kSubs = kKBlock / kSub;
  static constexpr bool kHasMin = kHasMinValue;
  static constexpr int kZero = kZeroValue;
  static constexpr bool kWide = kZero == 128;  ///< codes use all 8 bits
  /// Groups of four codes whose products, two to a word, may be added up in words of 16 bits.
  static constexpr int kWordSteps = kWordStepsValue;
};
using FloatShape = Shape<ScaleKind::kFloat, kKBlock, false, 0, 1>;

/// As many steps of two products each as 16 bits hold, |activation| <= 127: 8, 4, 2 or 1, within a sub-block.
constexpr int word_steps(int max_code, int sub) {
  int n = sub / 4;
  while (n > 1 && n * 2 * 127 * max_code > 32767) n /= 2;
  return n;
}

template <class Format>
constexpr auto shape_of() {
  if constexpr (Format::kScale == ScaleKind::kFloat) {
    return FloatShape{};
  } else {
    return Shape<Format::kScale, Format::kSub, Format::kHasMin, Format::kZero,
                 word_steps(Format::kMaxCode, Format::kSub)>{};
  }
}
template <class Format>
using ShapeOf = decltype(shape_of<Format>());

/// kReal scales: scale and min are floats.
template <class Shape, ScaleKind kKind = Shape::kKind>
struct Panel {
  alignas(64) uint8_t codes[kKBlock / 4][64];
  alignas(64) float scale[Shape::kSubs][16];
  alignas(64) float min[Shape::kHasMin ? Shape::kSubs : 1][16];
};

/// kInteger scales: weight = d * scale * (code - zero) - dmin * min. Mins of two sub-blocks share a lane.
template <class Shape>
struct Panel<Shape, ScaleKind::kInteger> {
  alignas(64) uint8_t codes[kKBlock / 4][64];
  alignas(64) int32_t scale[Shape::kSubs][16];
  alignas(64) int32_t min_pairs[8][16];
  alignas(64) float d[16];
  alignas(64) float dmin[16];
};

/// Weight k of the K-block is w[k % 16][k / 16]: in the order in which they are added up.
template <class Shape>
struct Panel<Shape, ScaleKind::kFloat> {
  alignas(64) float w[16][16][16];
};

/// Where a K-block of 16 rows lies, and what to fetch for the group of rows that comes after it.
struct PanelSource {
  const uint8_t* rows;  ///< first row's first byte of this K-block
  int64_t row_bytes;
  int n_rows;               ///< 1 to 16 rows exist; the other lanes are filled with zeros
  int k;                    ///< weights of this K-block, up to 256
  const uint8_t* prefetch;  ///< as many bytes as this K-block's rows take, or nullptr
};

/// Asks L2 for the next group of rows in 64 steps. The distance is one group: nearer ones come too late, farther ones
/// wash out L2. Spread over all of a K-block's arithmetic the fetches run beside it; at once they would queue up and
/// the arithmetic would wait.
template <int kLines>
struct SpreadPrefetch {
  const uint8_t* next;
  int64_t line_bytes;  ///< 0 when nothing is to be fetched

  explicit SpreadPrefetch(const PanelSource& source)
      : next(source.prefetch != nullptr ? source.prefetch : source.rows),
        line_bytes(source.prefetch != nullptr ? 64 : 0) {}

  template <int kStep>
  [[gnu::always_inline]] void step() const {
    constexpr int kFirst = kStep * kLines / 64;
    constexpr int kLast = (kStep + 1) * kLines / 64;
    if constexpr (kFirst < kLast) __builtin_prefetch(next + line_bytes * kFirst, 0, 2);
    if constexpr (kFirst + 1 < kLast) __builtin_prefetch(next + line_bytes * kFirst + line_bytes, 0, 2);
  }
};

/// Bytes that a K-block of a row takes.
template <class Format>
constexpr int64_t kBlockBytes = int64_t{kKBlock} / Format::kBlock* Format::kBytes;

/// Activation rows between two looks at what is to be fetched.
inline constexpr int64_t kStepRows = kOnePanelRows > kManyPanelsRows ? kOnePanelRows : kManyPanelsRows;

/// A K-block of the rows that will be unpacked next, asked for line by line between multiplications of many activation
/// rows: they then are in L2 just in time, whereas a whole group of rows asked for at once would be washed out, and
/// more lines at a time than a core can wait for would hold up everything else.
class NextRows {
 public:
  NextRows() = default;
  NextRows(const uint8_t* rows, int64_t row_bytes, int64_t n_rows, int64_t block_bytes, int64_t n_act_rows)
      : row_(rows), at_(rows), row_bytes_(row_bytes), block_bytes_(block_bytes), n_left_(n_rows) {
    const int64_t n_lines = n_rows * (block_bytes / 64 + 1);
    const int64_t n_steps = n_act_rows / kStepRows;
    n_a_step_ = static_cast<int>((n_lines + n_steps - 1) / n_steps);
    if (n_a_step_ < kFewestAStep) n_a_step_ = kFewestAStep;
  }

  [[gnu::always_inline]] void step() {
    for (int i = 0; i < n_a_step_ && n_left_ > 0; ++i) fetch_line();
  }

 private:
  static constexpr int kFewestAStep = 4;  ///< 32 rows of any format are through in a third of a prompt's steps

  [[gnu::always_inline]] void fetch_line() {
    __builtin_prefetch(at_, 0, 2);
    at_ += 64;
    if (at_ - row_ < block_bytes_ + 63) return;
    row_ += row_bytes_;
    at_ = row_;
    --n_left_;
  }

  const uint8_t* row_ = nullptr;
  const uint8_t* at_ = nullptr;
  int64_t row_bytes_ = 0;
  int64_t block_bytes_ = 0;
  int64_t n_left_ = 0;
  int n_a_step_ = 0;
};

/// Bytes of the rows after the next, in a straight line, asked for between multiplications of some activation rows.
class NextShare {
 public:
  NextShare() = default;
  NextShare(const uint8_t* from, int64_t n_bytes, int64_t n_steps) : at_(from), n_left_(n_bytes / 64 + 1) {
    n_a_step_ = static_cast<int>((n_left_ + n_steps - 1) / n_steps);
  }

  /// Lines go into L2 far ahead, where they don't hold up a core's few reads of L1, and are called from there.
  [[gnu::always_inline]] void step() {
    for (int i = 0; i < n_a_step_ && n_left_ > 0; ++i, --n_left_, at_ += 64) {
      __builtin_prefetch(at_ + kShareAheadBytes, 0, 2);
      __builtin_prefetch(at_, 0, 3);
    }
  }

 private:
  static constexpr int64_t kShareAheadBytes = 2048;

  const uint8_t* at_ = nullptr;
  int64_t n_left_ = 0;
  int n_a_step_ = 0;
};

/// What is asked for between multiplications: one of the two, or nothing.
struct NextFetches {
  NextRows rows;
  NextShare share;
};

/// Lines that a K-block of 16 rows takes.
template <class Format>
constexpr int kPanelLines = (16 * kKBlock / Format::kBlock * Format::kBytes + 63) / 64;

/// Asks L2 for one row's share of the next group. The distance is one group of rows: nearer ones come too late, farther
/// ones wash out L2; spread over the unpacking they don't queue up behind each other.
inline void prefetch_row_share(const PanelSource& source, int row, int64_t share_bytes) {
  if (source.prefetch == nullptr) return;
  const uint8_t* p = source.prefetch + row * share_bytes;
  for (int64_t i = 0; i < share_bytes; i += 64) __builtin_prefetch(p + i, 0, 2);
}

/// [16 rows][256 codes] to [64][16 rows][4].
inline void transpose_codes(const uint8_t (*codes)[kKBlock], int k, uint8_t (*out)[64]) {
  for (int i = 0; i < k; i += 64) transpose16(codes[0] + i, kKBlock, out[i / 4]);
}

template <class Format>
inline void unpack_panel(const PanelSource& source, Panel<ShapeOf<Format>, ScaleKind::kReal>& panel) {
  alignas(64) uint8_t codes[16][kKBlock];
  alignas(64) float scales[16][16];
  alignas(64) float mins[16][16];
  constexpr int kSubsPerFormatBlock = Format::kBlock / Format::kSub;
  const int n_blocks = source.k / Format::kBlock;
  for (int row = 0; row < source.n_rows; ++row) {
    prefetch_row_share(source, row, static_cast<int64_t>(n_blocks) * Format::kBytes);
    const uint8_t* block = source.rows + row * source.row_bytes;
    for (int b = 0; b < n_blocks; ++b, block += Format::kBytes) {
      RealScales unpacked;
      Format::unpack(block, codes[row] + b * Format::kBlock, unpacked);
      for (int s = 0; s < kSubsPerFormatBlock; ++s) {
        scales[row][b * kSubsPerFormatBlock + s] = unpacked.scale[s];
        if constexpr (Format::kHasMin) mins[row][b * kSubsPerFormatBlock + s] = unpacked.min[s];
      }
    }
  }
  for (int row = source.n_rows; row < 16; ++row) {
    __builtin_memset(codes[row], 0, kKBlock);
    __builtin_memset(scales[row], 0, sizeof scales[row]);
    __builtin_memset(mins[row], 0, sizeof mins[row]);
  }
  transpose_codes(codes, source.k, panel.codes);
  alignas(64) float lanes[16][16];
  transpose16(reinterpret_cast<const uint8_t*>(scales), 64, reinterpret_cast<uint8_t*>(lanes));
  __builtin_memcpy(panel.scale, lanes, sizeof panel.scale);
  if constexpr (Format::kHasMin) {
    transpose16(reinterpret_cast<const uint8_t*>(mins), 64, reinterpret_cast<uint8_t*>(lanes));
    __builtin_memcpy(panel.min, lanes, sizeof panel.min);
  }
}

/// Formats that an ISA unpacks a block at a time with vectors of its own.
template <class Format>
inline constexpr bool kHasBlockCodes = false;
/// Format::unpack for them.
template <class Format>
inline void unpack_block(const uint8_t* block, uint8_t* codes, IntegerScales& scales);

template <class Format>
inline void unpack_panel(const PanelSource& source, Panel<ShapeOf<Format>, ScaleKind::kInteger>& panel) {
  static_assert(Format::kBlock == kKBlock);
  alignas(64) uint8_t codes[16][kKBlock];
  alignas(64) int16_t packed[16][32];  // a row's scales, then its mins
  for (int row = 0; row < source.n_rows; ++row) {
    prefetch_row_share(source, row, Format::kBytes);
    IntegerScales unpacked;
    const uint8_t* block = source.rows + row * source.row_bytes;
    if constexpr (kHasBlockCodes<Format>) {
      unpack_block<Format>(block, codes[row], unpacked);
    } else {
      Format::unpack(block, codes[row], unpacked);
    }
    __builtin_memcpy(packed[row], unpacked.scale, 32);
    if constexpr (Format::kHasMin) __builtin_memcpy(packed[row] + 16, unpacked.min, 32);
    panel.d[row] = unpacked.d;
    if constexpr (Format::kHasMin) panel.dmin[row] = unpacked.dmin;
  }
  for (int row = source.n_rows; row < 16; ++row) {
    __builtin_memset(codes[row], 0, kKBlock);
    __builtin_memset(packed[row], 0, sizeof packed[row]);
    panel.d[row] = 0;
    panel.dmin[row] = 0;
  }
  transpose_codes(codes, kKBlock, panel.codes);
  alignas(64) int32_t pairs[16][16];
  transpose16(reinterpret_cast<const uint8_t*>(packed), 64, reinterpret_cast<uint8_t*>(pairs));
  for (int s = 0; s < ShapeOf<Format>::kSubs; s += 2) {
    const I pair = load_i(pairs[s / 2]);
    store_i(panel.scale[s], shift_right<16>(shift_left<16>(pair)));
    store_i(panel.scale[s + 1], shift_right<16>(pair));
  }
  if constexpr (Format::kHasMin) __builtin_memcpy(panel.min_pairs, pairs[8], sizeof panel.min_pairs);
}

/// 16 elements of a float format.
template <class Format>
inline F load_elements(const uint8_t* p) {
  if constexpr (Format::kType == DType::kF32) return load_f(reinterpret_cast<const float*>(p));
  if constexpr (Format::kType == DType::kF16) return load_half(p);
  if constexpr (Format::kType == DType::kBF16) return load_bf16(p);
  alignas(64) float out[16];
  for (int i = 0; i < 16; ++i) out[i] = Format::to_float(p + i * Format::kBytes);
  return load_f(out);
}

/// As many of 16 elements as there are, and zeros.
template <class Format>
inline F load_elements_n(const uint8_t* p, int n) {
  if (n >= 16) return load_elements<Format>(p);
  if (n <= 0) return zero_f();
  alignas(64) uint8_t padded[16 * Format::kBytes] = {};
  __builtin_memcpy(padded, p, static_cast<size_t>(n * Format::kBytes));
  return load_elements<Format>(padded);
}

template <class Format>
inline void unpack_panel(const PanelSource& source, Panel<ShapeOf<Format>, ScaleKind::kFloat>& panel) {
  alignas(64) float rows[16][16] = {};
  for (int row = 0; row < source.n_rows; ++row) {
    prefetch_row_share(source, row, static_cast<int64_t>(source.k) * Format::kBytes);
  }
  for (int i = 0; i < 16; ++i) {
    for (int row = 0; row < source.n_rows; ++row) {
      store_f(rows[row], load_elements_n<Format>(source.rows + row * source.row_bytes + 16 * i * Format::kBytes,
                                                 source.k - 16 * i));
    }
    I lanes[16];
    load_lanes(reinterpret_cast<const uint8_t*>(rows), 64, lanes);
    for (int lane = 0; lane < 16; ++lane) store_i(reinterpret_cast<int32_t*>(panel.w[lane][i]), lanes[lane]);
  }
}

}  // namespace
}  // namespace ferrox
