// How are 16 rows of a format with real scales unpacked at once? As unpack_lanes.inl does it for blocks of 256: a
// K-block's dwords are lanes first, whatever blocks they lie in, and fields are then found by their byte.
namespace ferrox {
namespace {

/// All dwords of a K-block of 16 rows; the last load overlaps, since nothing past them may be read.
template <class Format>
struct LaneDwords {
  static constexpr int kCount = kKBlock / Format::kBlock * Format::kBytes / 4;
  I dwords[kCount + 1];

  explicit LaneDwords(const PanelSource& source) {
    unrolled<kCount / 16>([&]<int i>() __attribute__((always_inline)) { load_dwords<16 * i>(source, dwords); });
    if constexpr (kCount % 16 != 0) load_dwords<kCount - 16>(source, dwords);
    dwords[kCount] = zero_i();
  }

  /// Four bytes from byte kByte on.
  template <int kByte>
  [[gnu::always_inline]] I dword() const {
    constexpr int kShift = kByte % 4 * 8;
    if constexpr (kShift == 0) return dwords[kByte / 4];
    if constexpr (kShift != 0) {
      return or_i(shift_right_logical<kShift>(dwords[kByte / 4]), shift_left<32 - kShift>(dwords[kByte / 4 + 1]));
    }
  }
  /// Byte kByte.
  template <int kByte>
  [[gnu::always_inline]] I byte() const {
    return and_i(shift_right_logical<kByte % 4 * 8>(dwords[kByte / 4]), set1_i(0xff));
  }
  /// The F16 number at byte kByte, an even one.
  template <int kByte>
  [[gnu::always_inline]] F half() const {
    static_assert(kByte % 2 == 0);
    return half_lanes(kByte % 4 == 0 ? dwords[kByte / 4] : shift_right_logical<16>(dwords[kByte / 4]));
  }
};

/// put<at>(codes) for the 32 weights whose nibbles lie in 16 bytes from kByte on; turn(nibbles) are the codes.
template <int kBlock, int kByte, class Dwords, class Codes, class Turn>
[[gnu::always_inline]] inline void put_block(const Dwords& lanes, Codes& codes, const Turn& turn) {
  const I four = byte_mask(0x0f);
  unrolled<4>([&]<int i>() __attribute__((always_inline)) {
    const I packed = lanes.template dword<kByte + 4 * i>();
    codes.template put<8 * kBlock + i, 8 * kBlock + 2 * i>(turn(and_i(packed, four)));
    codes.template put<8 * kBlock + 4 + i, 8 * kBlock + 2 * i + 1>(turn(and_i(shift_right_logical<4>(packed), four)));
  });
}

/// Bits kFrom .. kFrom + 3 of each lane as the fifth bits of its four codes.
template <int kFrom>
[[gnu::always_inline]] inline I fifth_bits(I bits) {
  const I nibble = and_i(shift_right_logical<kFrom>(bits), set1_i(15));
  return shift_left<4>(and_i(mul_i(nibble, set1_i(0x00204081)), byte_mask(1)));
}

/// As put_block; bit i of `bits` is the fifth of weight i.
template <int kBlock, int kByte, class Dwords, class Codes>
[[gnu::always_inline]] inline void put_block_of_five(const Dwords& lanes, I bits, Codes& codes) {
  const I four = byte_mask(0x0f);
  unrolled<4>([&]<int i>() __attribute__((always_inline)) {
    const I packed = lanes.template dword<kByte + 4 * i>();
    codes.template put<8 * kBlock + i, 8 * kBlock + 2 * i>(or_i(and_i(packed, four), fifth_bits<4 * i>(bits)));
    codes.template put<8 * kBlock + 4 + i, 8 * kBlock + 2 * i + 1>(
        or_i(and_i(shift_right_logical<4>(packed), four), fifth_bits<16 + 4 * i>(bits)));
  });
}

inline F negated(F v) { return mul(v, set1_f(-1.0f)); }

/// mxfp4::scale_of: 2^(exponent - 128), as the product of two powers that aren't subnormal.
inline F lane_exponents(I exponent) {
  const auto power = [](I e) { return bits_to_float(shift_left<23>(add_i(e, set1_i(63)))); };
  return mul(power(shift_right_logical<1>(exponent)), power(shift_right_logical<1>(add_i(exponent, set1_i(1)))));
}

/// nvfp4::half_scale_of: the seven bits lie in an F16 number as they do in E4M3, whose exponents are 8 apart.
inline F lane_e4m3_halves(I e4m3) {
  const F value = mul(half_lanes(shift_left<7>(and_i(e4m3, set1_i(0x7f)))), set1_f(128.0f));
  const F distance_to_nan = and_bits(sub(to_float(e4m3), set1_f(127.0f)), set1_i(0x7fffffff));
  return select_less(distance_to_nan, set1_f(0.5f), zero_f(), value);
}

template <class Codes>
inline void unpack_lanes(q4_0, const PanelSource& source, Panel<ShapeOf<q4_0>>& panel, Codes& codes) {
  const LaneDwords<q4_0> lanes(source);
  unrolled<8>([&]<int kBlock>() __attribute__((always_inline)) {
    constexpr int kAt = kBlock * q4_0::kBytes;
    store_f(panel.scale[kBlock], lanes.half<kAt>());
    put_block<kBlock, kAt + 2>(
        lanes, codes, [](I nibbles) __attribute__((always_inline)) { return nibbles; });
  });
}

template <class Codes>
inline void unpack_lanes(q4_1, const PanelSource& source, Panel<ShapeOf<q4_1>>& panel, Codes& codes) {
  const LaneDwords<q4_1> lanes(source);
  unrolled<8>([&]<int kBlock>() __attribute__((always_inline)) {
    constexpr int kAt = kBlock * q4_1::kBytes;
    store_f(panel.scale[kBlock], lanes.half<kAt>());
    store_f(panel.min[kBlock], negated(lanes.half<kAt + 2>()));
    put_block<kBlock, kAt + 4>(
        lanes, codes, [](I nibbles) __attribute__((always_inline)) { return nibbles; });
  });
}

template <class Codes>
inline void unpack_lanes(q5_0, const PanelSource& source, Panel<ShapeOf<q5_0>>& panel, Codes& codes) {
  const LaneDwords<q5_0> lanes(source);
  unrolled<8>([&]<int kBlock>() __attribute__((always_inline)) {
    constexpr int kAt = kBlock * q5_0::kBytes;
    store_f(panel.scale[kBlock], lanes.half<kAt>());
    put_block_of_five<kBlock, kAt + 6>(lanes, lanes.dword<kAt + 2>(), codes);
  });
}

template <class Codes>
inline void unpack_lanes(q5_1, const PanelSource& source, Panel<ShapeOf<q5_1>>& panel, Codes& codes) {
  const LaneDwords<q5_1> lanes(source);
  unrolled<8>([&]<int kBlock>() __attribute__((always_inline)) {
    constexpr int kAt = kBlock * q5_1::kBytes;
    store_f(panel.scale[kBlock], lanes.half<kAt>());
    store_f(panel.min[kBlock], negated(lanes.half<kAt + 2>()));
    put_block_of_five<kBlock, kAt + 8>(lanes, lanes.dword<kAt + 4>(), codes);
  });
}

/// Its codes lie two bytes off: a block is loaded where they begin, since shifts would cost as much as the transposing.
/// So that a last K-block may have fewer of them.
template <class Codes>
inline void unpack_lanes(q8_0, const PanelSource& source, Panel<ShapeOf<q8_0>>& panel, Codes& codes) {
  const I offset = byte_mask(0x80);
  unrolled<8>([&]<int kBlock>() __attribute__((always_inline)) {
    if (kBlock * q8_0::kBlock >= source.k) return;
    const uint8_t* blocks = source.rows + kBlock * q8_0::kBytes;
    alignas(64) uint16_t d[16];
    for (int row = 0; row < 16; ++row) __builtin_memcpy(d + row, blocks + row * source.row_bytes, 2);
    I dwords[8];
    load_lanes8(blocks + 2, source.row_bytes, dwords);
    unrolled<8>([&]<int i>() __attribute__((always_inline)) {
      codes.template put<8 * kBlock + i, 8 * kBlock + i>(xor_i(dwords[i], offset));
    });
    store_f(panel.scale[kBlock], load_half(reinterpret_cast<const uint8_t*>(d)));
  });
}

template <class Codes>
inline void unpack_lanes(iq4_nl, const PanelSource& source, Panel<ShapeOf<iq4_nl>>& panel, Codes& codes) {
  const LaneDwords<iq4_nl> lanes(source);
  unrolled<8>([&]<int kBlock>() __attribute__((always_inline)) {
    constexpr int kAt = kBlock * iq4_nl::kBytes;
    store_f(panel.scale[kBlock], lanes.half<kAt>());
    put_block<kBlock, kAt + 2>(
        lanes, codes, [](I nibbles) __attribute__((always_inline)) { return look_up_bytes(kIq4Codes, nibbles); });
  });
}

template <class Codes>
inline void unpack_lanes(mxfp4, const PanelSource& source, Panel<ShapeOf<mxfp4>>& panel, Codes& codes) {
  const LaneDwords<mxfp4> lanes(source);
  unrolled<8>([&]<int kBlock>() __attribute__((always_inline)) {
    constexpr int kAt = kBlock * mxfp4::kBytes;
    store_f(panel.scale[kBlock], lane_exponents(lanes.byte<kAt>()));
    put_block<kBlock, kAt + 1>(
        lanes, codes, [](I nibbles) __attribute__((always_inline)) { return look_up_bytes(kFp4Codes, nibbles); });
  });
}

template <class Codes>
inline void unpack_lanes(nvfp4, const PanelSource& source, Panel<ShapeOf<nvfp4>>& panel, Codes& codes) {
  const LaneDwords<nvfp4> lanes(source);
  const I four = byte_mask(0x0f);
  unrolled<16>([&]<int kSub>() __attribute__((always_inline)) {
    constexpr int kAt = kSub / 4 * nvfp4::kBytes;
    store_f(panel.scale[kSub], lane_e4m3_halves(lanes.byte<kAt + kSub % 4>()));
    unrolled<2>([&]<int i>() __attribute__((always_inline)) {
      const I packed = lanes.dword<kAt + 4 + kSub % 4 * 8 + 4 * i>();
      codes.template put<4 * kSub + i, 4 * kSub + 2 * i>(look_up_bytes(kFp4Codes, and_i(packed, four)));
      codes.template put<4 * kSub + 2 + i, 4 * kSub + 2 * i + 1>(
          look_up_bytes(kFp4Codes, and_i(shift_right_logical<4>(packed), four)));
    });
  });
}

/// Formats of these that may be cut short.
template <class Format>
inline constexpr bool kUnpacksPart = false;
template <>
inline constexpr bool kUnpacksPart<q8_0> = true;

/// Formats whose blocks are taken apart 16 rows at a time, where the ISA does so.
template <class Format>
inline constexpr bool kHasUnpackLanes = false;
template <>
inline constexpr bool kHasUnpackLanes<q4_K> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<q5_K> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<q6_K> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<iq4_xs> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<q4_0> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<q4_1> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<q5_0> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<q5_1> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<q8_0> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<iq4_nl> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<mxfp4> = kUnpacksLanes;
template <>
inline constexpr bool kHasUnpackLanes<nvfp4> = kUnpacksLanes;

}  // namespace
}  // namespace ferrox
