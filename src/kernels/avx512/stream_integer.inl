// What is kept of a streamed row whose scales are integers? One sum of all products, each already times its scale.
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
struct StreamScales<q4_K> {};
template <>
struct StreamScales<q5_K> {};

/// Each of a 128-bit lane's words as the zero-extended byte of sub-block `low` (four times) or low + 2 (four times);
/// lanes 2 and 3: of low + 1 and low + 3.
inline I word_indices(int low) {
  const auto twice = [](int sub) { return static_cast<int>(0x80008000u | static_cast<uint32_t>(sub) * 0x10001u); };
  const int a = twice(low), b = twice(low + 2), c = twice(low + 1), d = twice(low + 3);
  return _mm512_set_epi32(d, d, c, c, d, d, c, c, b, b, a, a, b, b, a, a);
}

/// The eight 6-bit scales of a Q4_K or Q5_K block as bytes, everywhere.
inline I six_bit_scales(const uint8_t* block) {
  const uint32_t first = load_u32(block + 4);
  const uint32_t last = load_u32(block + 12);
  const uint32_t upper = (last & 0x0f0f0f0fu) | (first >> 2 & 0x30303030u);
  return _mm512_set1_epi64(static_cast<long long>((first & 0x3f3f3f3fu) | static_cast<uint64_t>(upper) << 32));
}

struct WordScales {
  I low;   ///< sub-blocks 0 to 3
  I high;  ///< sub-blocks 4 to 7
};

inline WordScales word_scales(const uint8_t* block) {
  const I scales = six_bit_scales(block);
  return {_mm512_shuffle_epi8(scales, word_indices(0)), _mm512_shuffle_epi8(scales, word_indices(4))};
}

/// A quarter holds one sub-block in its lower half and one in its upper. Sums of four products of codes below 32 fit 16
/// bits: packed, two quarters are multiplied with their scales by one instruction.
inline I multiply_words(const I* sums, const WordScales& scales) {
  const I low = _mm512_dpwssd_epi32(zero_i(), _mm512_packs_epi32(sums[0], sums[1]), scales.low);
  return _mm512_dpwssd_epi32(low, _mm512_packs_epi32(sums[2], sums[3]), scales.high);
}

inline WordScales row_scales(q4_K, const uint8_t* block) { return word_scales(block); }
inline WordScales row_scales(q5_K, const uint8_t* block) { return word_scales(block); }
inline I keep_sums(q4_K, const I* sums, const WordScales& scales, const ActBlock&) {
  return multiply_words(sums, scales);
}
inline I keep_sums(q5_K, const I* sums, const WordScales& scales, const ActBlock&) {
  return multiply_words(sums, scales);
}
inline void keep_scales(q4_K, const uint8_t*, int, StreamScales<q4_K>&) {}
inline void keep_scales(q5_K, const uint8_t*, int, StreamScales<q5_K>&) {}

/// The scales of a quarter's products, and those of whole sub-blocks.
struct DwordScales {
  I quarter[4];
  I subs;
};

inline DwordScales row_scales(q6_K, const uint8_t* block) {
  const I subs = _mm512_cvtepi8_epi32(load_bytes_16(block + 192));
  const I each_four = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  DwordScales scales;
  for (int i = 0; i < 4; ++i) {
    scales.quarter[i] = _mm512_permutexvar_epi32(add_i(each_four, set1_i(4 * i)), subs);
  }
  scales.subs = subs;
  return scales;
}

inline DwordScales row_scales(iq4_xs, const uint8_t* block) {
  const uint64_t low = _pdep_u64(load_u32(block + 4), 0x0f0f0f0f0f0f0f0f);
  const uint64_t high = _pdep_u64(load_u16(block + 2), 0x3030303030303030);
  const __m128i bytes = _mm_sub_epi8(_mm_cvtsi64_si128(static_cast<long long>(low | high)), _mm_set1_epi8(32));
  const I subs = _mm512_maskz_cvtepi8_epi32(0x00ff, bytes);
  const I each_eight = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  DwordScales scales;
  for (int i = 0; i < 4; ++i) {
    scales.quarter[i] = _mm512_permutexvar_epi32(add_i(each_eight, set1_i(2 * i)), subs);
  }
  scales.subs = subs;
  return scales;
}

/// Products times their scales. `zeros`: what the codes' zero adds to each sub-block's sum, before its scale.
inline I multiply_dwords(const I* sums, const DwordScales& scales, I zeros) {
  const I low = add_i(mul_i(sums[0], scales.quarter[0]), mul_i(sums[1], scales.quarter[1]));
  const I high = add_i(mul_i(sums[2], scales.quarter[2]), mul_i(sums[3], scales.quarter[3]));
  return _mm512_sub_epi32(add_i(low, high), mul_i(zeros, scales.subs));
}

inline I keep_sums(q6_K, const I* sums, const DwordScales& scales, const ActBlock& act) {
  static_assert(q6_K::kZero == 32);
  return multiply_dwords(sums, scales, shift_left<5>(_mm512_cvtepi16_epi32(load_bytes_32(act.sum16))));
}
inline I keep_sums(iq4_xs, const I* sums, const DwordScales& scales, const ActBlock& act) {
  static_assert(iq4_xs::kZero == 128);
  return multiply_dwords(sums, scales,
                         shift_left<7>(_mm512_cvtepi16_epi32(_mm256_castsi128_si256(load_bytes_16(act.sum32)))));
}
inline void keep_scales(q6_K, const uint8_t* block, int row, StreamScales<q6_K>& out) {
  out.d[row] = load_u16(block + 208);
}
inline void keep_scales(iq4_xs, const uint8_t* block, int row, StreamScales<iq4_xs>& out) {
  out.d[row] = load_u16(block);
}

/// Of 16 rows whose first K-block is at `rows`.
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
  store_f(panel.d, load_half(reinterpret_cast<const uint8_t*>(scales.d)));
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

}  // namespace
}  // namespace ferrox
