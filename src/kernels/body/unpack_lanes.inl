// How are 16 rows of a k-quant unpacked at once? Blocks are transposed as they are, dword by dword, and only then taken
// apart: lane r of every vector is row r, so one instruction decodes a field of 16 blocks. Twice as fast as row by row;
// the values are those of Format::unpack.
namespace ferrox {
namespace {

inline I byte_mask(int32_t byte) { return set1_i(byte * 0x01010101); }

/// Dwords of 16 rows' blocks as lanes, 16 of them from byte `offset` of each block on.
inline void load_dwords(const PanelSource& source, int offset, int32_t (*out)[16]) {
  transpose16(source.rows + offset, source.row_bytes, reinterpret_cast<uint8_t*>(out));
}

inline void prefetch_rows(const PanelSource& source, int from, int to, int64_t share_bytes) {
  for (int row = from; row < to; ++row) prefetch_row_share(source, row, share_bytes);
}

/// Four unsigned bytes of each lane as the scales of four sub-blocks.
inline void store_scale_bytes(I bytes, int32_t (*out)[16]) {
  const I mask = set1_i(0xff);
  store_i(out[0], and_i(bytes, mask));
  store_i(out[1], and_i(shift_right_logical<8>(bytes), mask));
  store_i(out[2], and_i(shift_right_logical<16>(bytes), mask));
  store_i(out[3], shift_right_logical<24>(bytes));
}

/// Four unsigned bytes of each lane as two pairs of 16 bits.
inline void store_min_pairs(I bytes, int32_t (*out)[16]) {
  const I low = set1_i(0x00ff00ff);
  const I even = and_i(bytes, low);                         // b0, b2
  const I odd = and_i(shift_right_logical<8>(bytes), low);  // b1, b3
  const I first = set1_i(0xffff);
  store_i(out[0], or_i(and_i(even, first), shift_left<16>(odd)));
  store_i(out[1], or_i(shift_right_logical<16>(even), and_i(odd, set1_i(static_cast<int32_t>(0xffff0000u)))));
}

/// The header that Q4_K and Q5_K share: d and dmin as F16, then eight 6-bit scales and eight 6-bit mins:
///   dword 1: scale 0-3 | two upper bits of scale 4-7    dword 2: min 0-3 | those of min 4-7
///   dword 3: lower four bits of scale 4-7 | of min 4-7
template <class Shape>
inline void unpack_header(const int32_t (*dwords)[16], Panel<Shape, ScaleKind::kInteger>& panel) {
  const I halves = load_i(dwords[0]);
  store_f(panel.d, half_lanes(halves));
  store_f(panel.dmin, half_lanes(shift_right_logical<16>(halves)));
  const I scales = load_i(dwords[1]);
  const I mins = load_i(dwords[2]);
  const I lower = load_i(dwords[3]);
  const I six = byte_mask(0x3f);
  const I four = byte_mask(0x0f);
  const I upper = byte_mask(0x30);
  store_scale_bytes(and_i(scales, six), panel.scale);
  store_scale_bytes(or_i(and_i(lower, four), and_i(shift_right_logical<2>(scales), upper)), panel.scale + 4);
  store_min_pairs(and_i(mins, six), panel.min_pairs);
  store_min_pairs(or_i(and_i(shift_right_logical<4>(lower), four), and_i(shift_right_logical<2>(mins), upper)),
                  panel.min_pairs + 2);
}

inline void store_codes(I codes, uint8_t* out) { store_i(reinterpret_cast<int32_t*>(out), codes); }

inline void unpack_lanes(q4_K, const PanelSource& source, Panel<ShapeOf<q4_K>, ScaleKind::kInteger>& panel) {
  // header: dwords 0-3, nibbles: dwords 4-35; the last load overlaps, since nothing past the block may be read
  alignas(64) int32_t dwords[36][16];
  prefetch_rows(source, 0, 5, q4_K::kBytes);
  load_dwords(source, 80, dwords + 20);
  prefetch_rows(source, 5, 10, q4_K::kBytes);
  load_dwords(source, 64, dwords + 16);
  prefetch_rows(source, 10, 16, q4_K::kBytes);
  load_dwords(source, 0, dwords);
  unpack_header(dwords, panel);
  const I four = byte_mask(0x0f);
  for (int i = 0; i < 32; ++i) {  // dword i of 32: quarter i / 8
    const I nibbles = load_i(dwords[4 + i]);
    const int at = i / 8 * 16 + i % 8;
    store_codes(and_i(nibbles, four), panel.codes[at]);
    store_codes(and_i(shift_right_logical<4>(nibbles), four), panel.codes[at + 8]);
  }
}

inline void unpack_lanes(q5_K, const PanelSource& source, Panel<ShapeOf<q5_K>, ScaleKind::kInteger>& panel) {
  // header: dwords 0-3, fifth bits: dwords 4-11, nibbles: dwords 12-43
  alignas(64) int32_t dwords[44][16];
  prefetch_rows(source, 0, 5, q5_K::kBytes);
  load_dwords(source, 112, dwords + 28);
  prefetch_rows(source, 5, 10, q5_K::kBytes);
  load_dwords(source, 64, dwords + 16);
  prefetch_rows(source, 10, 16, q5_K::kBytes);
  load_dwords(source, 0, dwords);
  unpack_header(dwords, panel);
  const I four = byte_mask(0x0f);
  const I fifth = byte_mask(0x10);
  for (int i = 0; i < 8; ++i) {
    I bits = load_i(dwords[4 + i]);  // bit 2q of a byte belongs to quarter q's low nibbles, bit 2q + 1 to its high ones
    for (int quarter = 0; quarter < 4; ++quarter) {
      const I nibbles = load_i(dwords[12 + quarter * 8 + i]);
      const I low_bit = and_i(shift_left<4>(bits), fifth);
      const I high_bit = and_i(shift_left<3>(bits), fifth);
      store_codes(or_i(and_i(nibbles, four), low_bit), panel.codes[quarter * 16 + i]);
      store_codes(or_i(and_i(shift_right_logical<4>(nibbles), four), high_bit), panel.codes[quarter * 16 + 8 + i]);
      bits = shift_right_logical<2>(bits);
    }
  }
}

/// Byte kByte of each lane as a signed number.
template <int kByte>
inline I signed_byte(I bytes) {
  return shift_right<24>(shift_left<24 - 8 * kByte>(bytes));
}

inline void unpack_lanes(q6_K, const PanelSource& source, Panel<ShapeOf<q6_K>, ScaleKind::kInteger>& panel) {
  // low nibbles: dwords 0-31, upper bits: dwords 32-47, scales: dwords 48-51; d alone ends the block
  alignas(64) int32_t dwords[52][16];
  prefetch_rows(source, 0, 4, q6_K::kBytes);
  load_dwords(source, 0, dwords);
  prefetch_rows(source, 4, 8, q6_K::kBytes);
  load_dwords(source, 64, dwords + 16);
  prefetch_rows(source, 8, 12, q6_K::kBytes);
  load_dwords(source, 128, dwords + 32);
  prefetch_rows(source, 12, 16, q6_K::kBytes);
  load_dwords(source, 144, dwords + 36);
  for (int row = 0; row < 16; ++row) panel.d[row] = load_f16(source.rows + row * source.row_bytes + 208);
  for (int i = 0; i < 4; ++i) {
    const I bytes = load_i(dwords[48 + i]);
    store_i(panel.scale[4 * i], signed_byte<0>(bytes));
    store_i(panel.scale[4 * i + 1], signed_byte<1>(bytes));
    store_i(panel.scale[4 * i + 2], signed_byte<2>(bytes));
    store_i(panel.scale[4 * i + 3], signed_byte<3>(bytes));
  }
  const I four = byte_mask(0x0f);
  const I upper = byte_mask(0x30);
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 8; ++i) {
      const I a = load_i(dwords[16 * half + i]);
      const I b = load_i(dwords[16 * half + 8 + i]);
      const I bits = load_i(dwords[32 + 8 * half + i]);
      uint8_t(*codes)[64] = panel.codes + 32 * half + i;
      store_codes(or_i(and_i(a, four), and_i(shift_left<4>(bits), upper)), codes[0]);
      store_codes(or_i(and_i(b, four), and_i(shift_left<2>(bits), upper)), codes[8]);
      store_codes(or_i(and_i(shift_right_logical<4>(a), four), and_i(bits, upper)), codes[16]);
      store_codes(or_i(and_i(shift_right_logical<4>(b), four), and_i(shift_right_logical<2>(bits), upper)), codes[24]);
    }
  }
}

/// Formats whose blocks are worth taking apart 16 rows at a time.
template <class Format>
inline constexpr bool kHasUnpackLanes = false;
template <>
inline constexpr bool kHasUnpackLanes<q4_K> = true;
template <>
inline constexpr bool kHasUnpackLanes<q5_K> = true;
template <>
inline constexpr bool kHasUnpackLanes<q6_K> = true;

}  // namespace
}  // namespace ferrox
