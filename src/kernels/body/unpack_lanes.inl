// How are 16 rows of a format with blocks of 256 unpacked at once? Blocks are transposed as they are, dword by dword,
// and only then taken apart: lane r of every vector is row r, so one instruction decodes a field of 16 blocks. Twice as
// fast as row by row; the values are those of Format::unpack.
namespace ferrox {
namespace {

inline I byte_mask(uint32_t byte) { return set1_i(static_cast<int32_t>(byte * 0x01010101u)); }

/// Where the codes of 16 rows go: put<at>(codes) takes weights 4 * at .. 4 * at + 3 of each row. This one fills a
/// panel.
template <class Format>
struct PanelCodes {
  Panel<ShapeOf<Format>>& panel;
  SpreadPrefetch<kPanelLines<Format>> prefetch;

  template <int kAt, int kStep>
  [[gnu::always_inline]] void put(I codes) {
    prefetch.template step<kStep>();
    store_i(reinterpret_cast<int32_t*>(panel.codes[kAt]), codes);
  }
};

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
inline void unpack_header(const I* dwords, Panel<Shape>& panel) {
  const I halves = dwords[0];
  store_f(panel.d, half_lanes(halves));
  store_f(panel.dmin, half_lanes(shift_right_logical<16>(halves)));
  const I scales = dwords[1];
  const I mins = dwords[2];
  const I lower = dwords[3];
  const I six = byte_mask(0x3f);
  const I four = byte_mask(0x0f);
  const I upper = byte_mask(0x30);
  store_scale_bytes(and_i(scales, six), panel.scale);
  store_scale_bytes(or_i(and_i(lower, four), and_i(shift_right_logical<2>(scales), upper)), panel.scale + 4);
  store_min_pairs(and_i(mins, six), panel.min_pairs);
  store_min_pairs(or_i(and_i(shift_right_logical<4>(lower), four), and_i(shift_right_logical<2>(mins), upper)),
                  panel.min_pairs + 2);
}

/// Dwords [kFrom, kFrom + 16) of 16 rows' bytes.
template <int kFrom>
inline void load_dwords(const PanelSource& source, I* dwords) {
  load_lanes(source.rows + 4 * kFrom, source.row_bytes, dwords + kFrom);
}

template <class Codes>
inline void unpack_lanes(q4_K, const PanelSource& source, Panel<ShapeOf<q4_K>>& panel, Codes& codes) {
  // header: dwords 0-3, nibbles: dwords 4-35; the last load overlaps, since nothing past the block may be read
  I dwords[36];
  load_dwords<0>(source, dwords);
  unpack_header(dwords, panel);
  load_dwords<4>(source, dwords);
  const I four = byte_mask(0x0f);
  unrolled<2>([&]<int kHalf>() __attribute__((always_inline)) {
    if constexpr (kHalf == 1) load_dwords<20>(source, dwords);
    unrolled<16>([&]<int i>() __attribute__((always_inline)) {
      constexpr int kDword = 16 * kHalf + i;  // of 32: quarter kDword / 8
      constexpr int kAt = kDword / 8 * 16 + kDword % 8;
      codes.template put<kAt, 2 * kDword>(and_i(dwords[4 + kDword], four));
      codes.template put<kAt + 8, 2 * kDword + 1>(and_i(shift_right_logical<4>(dwords[4 + kDword]), four));
    });
  });
}

template <class Codes>
inline void unpack_lanes(q5_K, const PanelSource& source, Panel<ShapeOf<q5_K>>& panel, Codes& codes) {
  // header: dwords 0-3, fifth bits: dwords 4-11, nibbles: dwords 12-43
  I dwords[44];
  load_dwords<0>(source, dwords);
  unpack_header(dwords, panel);
  load_dwords<16>(source, dwords);
  load_dwords<28>(source, dwords);
  const I four = byte_mask(0x0f);
  const I fifth = byte_mask(0x10);
  // bit 2q of a fifth-bit byte belongs to quarter q's low nibbles, bit 2q + 1 to its high ones
  unrolled<4>([&]<int kQuarter>() __attribute__((always_inline)) {
    unrolled<8>([&]<int i>() __attribute__((always_inline)) {
      const I bits = shift_right_logical<2 * kQuarter>(dwords[4 + i]);
      const I nibbles = dwords[12 + kQuarter * 8 + i];
      const I low_bit = and_i(shift_left<4>(bits), fifth);
      const I high_bit = and_i(shift_left<3>(bits), fifth);
      codes.template put<kQuarter * 16 + i, kQuarter * 16 + 2 * i>(or_i(and_i(nibbles, four), low_bit));
      codes.template put<kQuarter * 16 + 8 + i, kQuarter * 16 + 2 * i + 1>(
          or_i(and_i(shift_right_logical<4>(nibbles), four), high_bit));
    });
  });
}

/// Byte kByte of each lane as a signed number.
template <int kByte>
inline I signed_byte(I bytes) {
  return shift_right<24>(shift_left<24 - 8 * kByte>(bytes));
}

template <class Codes>
inline void unpack_lanes(q6_K, const PanelSource& source, Panel<ShapeOf<q6_K>>& panel, Codes& codes) {
  // low nibbles: dwords 0-31, upper bits: dwords 32-47, scales: dwords 48-51; d alone ends the block
  I dwords[52];
  load_dwords<36>(source, dwords);
  load_dwords<32>(source, dwords);
  for (int row = 0; row < 16; ++row) panel.d[row] = load_f16(source.rows + row * source.row_bytes + 208);
  unrolled<4>([&]<int i>() __attribute__((always_inline)) {
    store_i(panel.scale[4 * i], signed_byte<0>(dwords[48 + i]));
    store_i(panel.scale[4 * i + 1], signed_byte<1>(dwords[48 + i]));
    store_i(panel.scale[4 * i + 2], signed_byte<2>(dwords[48 + i]));
    store_i(panel.scale[4 * i + 3], signed_byte<3>(dwords[48 + i]));
  });
  const I four = byte_mask(0x0f);
  const I upper = byte_mask(0x30);
  unrolled<2>([&]<int kHalf>() __attribute__((always_inline)) {
    load_dwords<16 * kHalf>(source, dwords);
    unrolled<8>([&]<int i>() __attribute__((always_inline)) {
      constexpr int kAt = 32 * kHalf + i;
      constexpr int kStep = 32 * kHalf + 4 * i;
      const I a = dwords[16 * kHalf + i];
      const I b = dwords[16 * kHalf + 8 + i];
      const I bits = dwords[32 + 8 * kHalf + i];
      codes.template put<kAt, kStep>(or_i(and_i(a, four), and_i(shift_left<4>(bits), upper)));
      codes.template put<kAt + 8, kStep + 1>(or_i(and_i(b, four), and_i(shift_left<2>(bits), upper)));
      codes.template put<kAt + 16, kStep + 2>(or_i(and_i(shift_right_logical<4>(a), four), and_i(bits, upper)));
      codes.template put<kAt + 24, kStep + 3>(
          or_i(and_i(shift_right_logical<4>(b), four), and_i(shift_right_logical<2>(bits), upper)));
    });
  });
}

template <class Codes>
inline void unpack_lanes(iq4_xs, const PanelSource& source, Panel<ShapeOf<iq4_xs>>& panel, Codes& codes) {
  // d and the scales' upper bits: dword 0, their lower four bits: dword 1, nibbles: dwords 2-33
  I dwords[34];
  load_dwords<0>(source, dwords);
  load_dwords<16>(source, dwords);
  load_dwords<18>(source, dwords);
  store_f(panel.d, half_lanes(dwords[0]));
  const I upper = set1_i(3);
  const I lower = set1_i(15);
  unrolled<8>([&]<int kSub>() __attribute__((always_inline)) {
    const I high = and_i(shift_right_logical<16 + 2 * kSub>(dwords[0]), upper);
    const I low = and_i(shift_right_logical<4 * kSub>(dwords[1]), lower);
    store_i(panel.scale[kSub], add_i(or_i(low, shift_left<4>(high)), set1_i(-32)));
  });
  const I four = byte_mask(0x0f);
  unrolled<32>([&]<int i>() __attribute__((always_inline)) {  // of eight sub-blocks' four dwords each
    constexpr int kAt = i / 4 * 8 + i % 4;
    const I packed = dwords[2 + i];
    codes.template put<kAt, 2 * i>(look_up_bytes(kIq4Codes, and_i(packed, four)));
    codes.template put<kAt + 4, 2 * i + 1>(look_up_bytes(kIq4Codes, and_i(shift_right_logical<4>(packed), four)));
  });
}

}  // namespace
}  // namespace ferrox
