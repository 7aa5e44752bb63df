// What is kept of a streamed row until 16 rows are through, and how does it become lanes? Integer scales: one sum of
// all products, each already times its scale. Real scales: the sum of each sub-block, in parts, and the scales as they
// lie in the file. On top of the ISA's sum_lanes, sum_quarters and load_lanes4.
namespace ferrox {
namespace {

/// What is kept of the products of 16 weight rows and kRows activation rows.
template <int kRows, ScaleKind kKind>
struct StreamSums;

/// Scales are read again when 16 rows are through (Q4_K, Q5_K), or only d is kept.
template <class Format>
struct StreamScales {
  uint16_t d[16];
};
template <>
struct StreamScales<q2_K> {
  uint16_t d[16];
  uint16_t dmin[16];
};
template <>
struct StreamScales<q4_K> {};
template <>
struct StreamScales<q5_K> {};

/// Scales of eight blocks of 32: F16 numbers, or MXFP4's exponents.
template <class Format>
struct RealStreamScales {
  alignas(16) uint16_t scale[16][8];
  alignas(16) uint16_t min[Format::kHasMin ? 16 : 1][8];
};
template <>
struct StreamScales<q4_0> : RealStreamScales<q4_0> {};
template <>
struct StreamScales<q4_1> : RealStreamScales<q4_1> {};
template <>
struct StreamScales<q5_0> : RealStreamScales<q5_0> {};
template <>
struct StreamScales<q5_1> : RealStreamScales<q5_1> {};
template <>
struct StreamScales<q8_0> : RealStreamScales<q8_0> {};
template <>
struct StreamScales<iq4_nl> : RealStreamScales<iq4_nl> {};
template <>
struct StreamScales<mxfp4> : RealStreamScales<mxfp4> {};
template <>
struct StreamScales<nvfp4> {
  alignas(16) uint8_t scale[16][16];
};

/// By what a block's d is multiplied.
template <class Format>
inline constexpr float kScaleFactor = 1.0f;
template <>
inline constexpr float kScaleFactor<iq1_s> = 0.125f;
template <>
inline constexpr float kScaleFactor<iq1_m> = 0.125f;
template <>
inline constexpr float kScaleFactor<iq2_xxs> = 0.125f;
template <>
inline constexpr float kScaleFactor<iq2_xs> = 0.125f;
template <>
inline constexpr float kScaleFactor<iq2_s> = 0.125f;
template <>
inline constexpr float kScaleFactor<iq3_xxs> = 0.25f;

/// Of 16 rows whose first K-block is at `rows`.
inline void scales_to_lanes(q2_K, const uint8_t* rows, int64_t row_bytes, const StreamScales<q2_K>& scales,
                            Panel<ShapeOf<q2_K>>& panel) {
  I header[4];
  load_lanes4(rows, row_bytes, header);
  for (int i = 0; i < 4; ++i) {
    store_min_pairs(and_i(shift_right_logical<4>(header[i]), byte_mask(15)), panel.min_pairs + 2 * i);
  }
  store_f(panel.d, load_half(reinterpret_cast<const uint8_t*>(scales.d)));
  store_f(panel.dmin, load_half(reinterpret_cast<const uint8_t*>(scales.dmin)));
}
inline void scales_to_lanes(q4_K, const uint8_t* rows, int64_t row_bytes, const StreamScales<q4_K>&,
                            Panel<ShapeOf<q4_K>>& panel) {
  I header[4];
  load_lanes4(rows, row_bytes, header);
  unpack_header(header, panel);
}
inline void scales_to_lanes(q5_K, const uint8_t* rows, int64_t row_bytes, const StreamScales<q5_K>&,
                            Panel<ShapeOf<q5_K>>& panel) {
  I header[4];
  load_lanes4(rows, row_bytes, header);
  unpack_header(header, panel);
}
template <class Format>
inline void scales_to_lanes(Format, const uint8_t*, int64_t, const StreamScales<Format>& scales,
                            Panel<ShapeOf<Format>, ScaleKind::kInteger>& panel) {
  const F d = load_half(reinterpret_cast<const uint8_t*>(scales.d));
  store_f(panel.d, kScaleFactor<Format> == 1.0f ? d : mul(d, set1_f(kScaleFactor<Format>)));
}

/// One activation row: a weight row's sum in as many parts as there are lanes. Up to four: in four parts each.
template <int kRows>
struct StreamSums<kRows, ScaleKind::kInteger> {
  alignas(64) int32_t parts[16][16];

  void store(int row, const I* kept) {
    if constexpr (kRows == 1) {
      store_i(parts[row], kept[0]);
    } else {
      const I zero = zero_i();
      const I four[4] = {kept[0], kept[1], kRows > 2 ? kept[kRows > 2 ? 2 : 0] : zero,
                         kRows > 3 ? kept[kRows > 3 ? 3 : 0] : zero};
      store_i(parts[row], sum_quarters(four));
    }
  }
};

template <class Format, int kRows>
inline void finish_sums(Format, const StreamSums<kRows, ScaleKind::kInteger>& sums,
                        const Panel<ShapeOf<Format>, ScaleKind::kInteger>& panel, const ActBlock* acts,
                        float (*out)[16]) {
  if constexpr (kRows == 1) {
    add_integer(sum_lanes(sums.parts), panel, acts[0], out[0]);
  } else {
    I parts[16];
    load_lanes(reinterpret_cast<const uint8_t*>(sums.parts), 64, parts);
    for (int r = 0; r < kRows; ++r) {
      const I total = add_i(add_i(parts[r], parts[4 + r]), add_i(parts[8 + r], parts[12 + r]));
      add_integer(total, panel, acts[r], out[r]);
    }
  }
}

/// Eight words of 16 rows as lanes of floats, [8][16]; turn(words) makes floats of the lanes' low halves.
template <class Turn>
inline void words_to_lanes(const uint16_t (*words)[8], const Turn& turn, float (*out)[16]) {
  I pairs[4];
  load_lanes4(reinterpret_cast<const uint8_t*>(words), 16, pairs);
  for (int i = 0; i < 4; ++i) {
    store_f(out[2 * i], turn(pairs[i]));
    store_f(out[2 * i + 1], turn(shift_right_logical<16>(pairs[i])));
  }
}

template <class Format>
inline void scales_to_lanes(Format, const uint8_t*, int64_t, const StreamScales<Format>& scales,
                            Panel<ShapeOf<Format>, ScaleKind::kReal>& panel) {
  words_to_lanes(
      scales.scale, [](I words) { return half_lanes(words); }, panel.scale);
  if constexpr (Format::kHasMin) {
    words_to_lanes(
        scales.min, [](I words) { return negated(half_lanes(words)); }, panel.min);
  }
}
inline void scales_to_lanes(mxfp4, const uint8_t*, int64_t, const StreamScales<mxfp4>& scales,
                            Panel<ShapeOf<mxfp4>>& panel) {
  words_to_lanes(
      scales.scale, [](I words) { return lane_exponents(and_i(words, set1_i(0xffff))); }, panel.scale);
}
inline void scales_to_lanes(nvfp4, const uint8_t*, int64_t, const StreamScales<nvfp4>& scales,
                            Panel<ShapeOf<nvfp4>>& panel) {
  I bytes[4];
  load_lanes4(scales.scale[0], 16, bytes);
  const I mask = set1_i(0xff);
  for (int i = 0; i < 4; ++i) {
    store_f(panel.scale[4 * i], lane_e4m3_halves(and_i(bytes[i], mask)));
    store_f(panel.scale[4 * i + 1], lane_e4m3_halves(and_i(shift_right_logical<8>(bytes[i]), mask)));
    store_f(panel.scale[4 * i + 2], lane_e4m3_halves(and_i(shift_right_logical<16>(bytes[i]), mask)));
    store_f(panel.scale[4 * i + 3], lane_e4m3_halves(shift_right_logical<24>(bytes[i])));
  }
}

template <int kRows>
struct StreamSums<kRows, ScaleKind::kReal> {
  alignas(64) int32_t parts[kRows][16][16];

  void store(int row, const I* kept) {
    for (int r = 0; r < kRows; ++r) store_i(parts[r][row], kept[r]);
  }
};

/// One activation row's part of 16 outputs.
template <class Format>
inline void finish_row(const int32_t (*sums)[16], const Panel<ShapeOf<Format>>& panel, const ActBlock& act,
                       float* out) {
  using Shape = ShapeOf<Format>;
  I parts[16];  // sub-blocks of 32: lanes 0 and 1 of 128 bits hold the even ones, 2 and 3 the odd; of 16: lane s % 4
  load_lanes(reinterpret_cast<const uint8_t*>(sums), 64, parts);
  F t = zero_f();
  unrolled<Shape::kSubs>([&]<int kSub>() __attribute__((always_inline)) {
    constexpr int kPart = Shape::kSub == 16 ? kSub % 4 * 4 + kSub / 4 : kSub % 2 * 8 + kSub / 2;
    I sum = initial_sum<Shape::kZero, Shape::kWide>(q_sum<Shape>(act, kSub));
    sum = add_i(sum, parts[kPart]);
    if constexpr (Shape::kSub == 32) sum = add_i(sum, parts[kPart + 4]);
    t = add_real(t, sum, panel, act, kSub);
  });
  store_f(out, fma(t, set1_f(act.d), load_f(out)));
}

template <class Format, int kRows>
inline void finish_sums(Format, const StreamSums<kRows, ScaleKind::kReal>& sums,
                        const Panel<ShapeOf<Format>, ScaleKind::kReal>& panel, const ActBlock* acts, float (*out)[16]) {
  for (int r = 0; r < kRows; ++r) finish_row<Format>(sums.parts[r], panel, acts[r], out[r]);
}

}  // namespace
}  // namespace ferrox
