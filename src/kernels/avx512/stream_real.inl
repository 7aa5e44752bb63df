// What is kept of a streamed row whose scales are floats? The sum of each sub-block, in parts, and the scales as they
// lie in the file.
namespace ferrox {
namespace {

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

struct NoScales {};
template <class Format>
inline NoScales row_scales(Format, const uint8_t*) {
  return {};
}

template <class Format>
inline I keep_sums(Format, const I* sums, NoScales, const ActBlock&) {
  return sum_quarters(sums);
}

inline void store_words(uint16_t* out, I words) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(words));
}
inline I low_words(short a, short b, short c, short d, short e, short f, short g, short h) {
  return _mm512_castsi128_si512(_mm_set_epi16(h, g, f, e, d, c, b, a));
}
inline I low_dwords(int a, int b, int c, int d, int e, int f, int g, int h) {
  return _mm512_castsi256_si512(_mm256_set_epi32(h, g, f, e, d, c, b, a));
}

/// Words kStride * 0 to kStride * 7 of a K-block, all within 128 bytes.
template <int kStride>
inline I near_words(const uint8_t* block) {
  static_assert(7 * kStride < 64);
  const I words = low_words(0, kStride, 2 * kStride, 3 * kStride, 4 * kStride, 5 * kStride, 6 * kStride, 7 * kStride);
  return _mm512_permutex2var_epi16(load_bytes_64(block), words, load_bytes_64(block + 64));
}

inline void keep_scales(q4_0, const uint8_t* block, int row, StreamScales<q4_0>& out) {
  store_words(out.scale[row], near_words<9>(block));
}
inline void keep_scales(iq4_nl, const uint8_t* block, int row, StreamScales<iq4_nl>& out) {
  store_words(out.scale[row], near_words<9>(block));
}
inline void keep_scales(q5_0, const uint8_t* block, int row, StreamScales<q5_0>& out) {
  // words 0 11 22 33 44 55 of the first 64, then 66 and 77, which are 10 and 21 from byte 112 on
  const I six = _mm512_permutex2var_epi16(load_bytes_64(block), low_words(0, 11, 22, 33, 44, 55, 0, 0),
                                          load_bytes_64(block + 64));
  store_words(out.scale[row], _mm512_mask_permutexvar_epi16(six, 0xc0, low_words(0, 0, 0, 0, 0, 0, 10, 21),
                                                            load_bytes_64(block + 112)));
}
inline void keep_scales(q8_0, const uint8_t* block, int row, StreamScales<q8_0>& out) {
  // words 0 17 34 51 of 64, and of the 64 from byte 136 on
  const I words = low_words(0, 17, 34, 51, 0, 0, 0, 0);
  const I low = _mm512_permutex2var_epi16(load_bytes_64(block), words, load_bytes_64(block + 64));
  const I high = _mm512_permutex2var_epi16(load_bytes_64(block + 136), words, load_bytes_64(block + 200));
  store_words(out.scale[row], _mm512_unpacklo_epi64(low, high));
}
inline void keep_scales(mxfp4, const uint8_t* block, int row, StreamScales<mxfp4>& out) {
  const I bytes = _mm512_castsi128_si512(_mm_set_epi8(0, 0, 0, 0, 0, 0, 0, 0, 119, 102, 85, 68, 51, 34, 17, 0));
  const I scales = _mm512_permutex2var_epi8(load_bytes_64(block), bytes, load_bytes_64(block + 64));
  store_words(out.scale[row], _mm512_cvtepu8_epi16(_mm512_castsi512_si256(scales)));
}

/// Dwords of a scale and a min.
template <class Format>
inline void store_pairs(I pairs, int row, StreamScales<Format>& out) {
  store_words(out.scale[row], _mm512_castsi256_si512(_mm512_cvtepi32_epi16(pairs)));
  store_words(out.min[row], _mm512_castsi256_si512(_mm512_cvtepi32_epi16(shift_right_logical<16>(pairs))));
}
inline void keep_scales(q4_1, const uint8_t* block, int row, StreamScales<q4_1>& out) {
  // dwords 0 5 10 15, and of the 16 from byte 80 on
  store_pairs(_mm512_permutex2var_epi32(load_bytes_64(block), low_dwords(0, 5, 10, 15, 16, 21, 26, 31),
                                        load_bytes_64(block + 80)),
              row, out);
}
inline void keep_scales(q5_1, const uint8_t* block, int row, StreamScales<q5_1>& out) {
  // dwords 0 6 12 18 24 30 of the first 32, then 36 and 42, which are 4 and 10 of the next 16
  const I six = _mm512_permutex2var_epi32(load_bytes_64(block), low_dwords(0, 6, 12, 18, 24, 30, 0, 0),
                                          load_bytes_64(block + 64));
  store_pairs(_mm512_mask_permutexvar_epi32(six, 0xc0, low_dwords(0, 0, 0, 0, 0, 0, 4, 10), load_bytes_64(block + 128)),
              row, out);
}
inline void keep_scales(nvfp4, const uint8_t* block, int row, StreamScales<nvfp4>& out) {
  for (int i = 0; i < 4; ++i) __builtin_memcpy(out.scale[row] + 4 * i, block + i * nvfp4::kBytes, 4);
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
