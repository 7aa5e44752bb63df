// How is one activation row multiplied without turning weight rows into lanes first?
//
// Row after row is read in one straight line: the hardware prefetcher then keeps up with the memory, whereas fetches
// asked for by software share a core's few miss buffers and reach three quarters of that. Integer sums are exact, so
// the order in which a block's products are added doesn't show. What remains of a row's blocks is kept until 16 rows
// are through; from there on lanes are rows again, and the arithmetic is product.inl's.
namespace ferrox {
namespace {

/// Lane r of the result is the sum of all lanes of rows[r].
inline I sum_lanes(const int32_t (*rows)[16]) {
  I fours[4];
  for (int i = 0; i < 4; ++i) {
    I v[4];
    for (int j = 0; j < 4; ++j) v[j] = load_i(rows[4 * i + j]);
    const I a = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    const I b = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    fours[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  }
  I halves[2];
  for (int i = 0; i < 2; ++i) {
    const I a = fours[2 * i];
    const I b = fours[2 * i + 1];
    halves[i] = _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xee));
  }
  return _mm512_add_epi32(_mm512_shuffle_i32x4(halves[0], halves[1], 0x88),
                          _mm512_shuffle_i32x4(halves[0], halves[1], 0xdd));
}

/// Dwords 0 to 3 of 16 rows as lanes.
inline void load_lanes4(const uint8_t* src, int64_t stride, I* out) {
  __m512i a[4];
  for (int i = 0; i < 4; ++i) {
    const auto row = [&](int r) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + r * stride)); };
    a[i] = _mm512_castsi128_si512(row(i));
    a[i] = _mm512_inserti32x4(a[i], row(i + 4), 1);
    a[i] = _mm512_inserti32x4(a[i], row(i + 8), 2);
    a[i] = _mm512_inserti32x4(a[i], row(i + 12), 3);
  }
  const __m512i b0 = _mm512_unpacklo_epi32(a[0], a[1]);
  const __m512i b1 = _mm512_unpackhi_epi32(a[0], a[1]);
  const __m512i b2 = _mm512_unpacklo_epi32(a[2], a[3]);
  const __m512i b3 = _mm512_unpackhi_epi32(a[2], a[3]);
  out[0] = _mm512_unpacklo_epi64(b0, b2);
  out[1] = _mm512_unpackhi_epi64(b0, b2);
  out[2] = _mm512_unpacklo_epi64(b1, b3);
  out[3] = _mm512_unpackhi_epi64(b1, b3);
}

/// 32 bytes from each of two places.
inline I join_256(const void* low, const void* high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(static_cast<const __m256i*>(low))),
                            _mm256_loadu_si256(static_cast<const __m256i*>(high)), 1);
}

/// How far ahead lines are asked for on the same straight line: anything from 2 to 8 KiB is as good. With it rows come
/// at the speed of a loop that only reads; the hardware prefetcher alone brings three quarters of that.
constexpr int64_t kFetchAheadBytes = 4096;

template <int kBytes>
[[gnu::always_inline]] inline void fetch_ahead(const uint8_t* block) {
  for (int i = 0; i < kBytes; i += 64) __builtin_prefetch(block + kFetchAheadBytes + i, 0, 2);
}

/// What is left of one K-block of 16 rows.
template <class Format>
struct StreamBlock {
  alignas(64) int32_t sums[16][16];  ///< a row's products, in as many parts as there are lanes
};
template <>
struct StreamBlock<q6_K> {
  alignas(64) int32_t sums[16][16];
  uint16_t d[16];
};
template <>
struct StreamBlock<q8_0> {
  alignas(64) int32_t sums[16][16];  ///< 128-bit lanes 0 and 1: sub-blocks 0 2 4 6, lanes 2 and 3: 1 3 5 7
  alignas(16) uint16_t scale[16][8];
};

/// 16 words: sub-blocks low, low + 1 (four times each) twice, then high, high + 1 likewise; as indices of zero-extended
/// bytes.
inline I word_indices(int low, int high) {
  const auto twice = [](int sub) { return static_cast<int>(0x80008000u | static_cast<uint32_t>(sub) * 0x10001u); };
  const int a = twice(low), b = twice(low + 1), c = twice(high), d = twice(high + 1);
  return _mm512_set_epi32(d, d, c, c, d, d, c, c, b, b, a, a, b, b, a, a);
}

/// The eight 6-bit scales of a Q4_K block as bytes.
inline uint64_t scale_bytes(const uint8_t* block) {
  const uint32_t first = load_u32(block + 4);
  const uint32_t last = load_u32(block + 12);
  const uint32_t upper = (last & 0x0f0f0f0fu) | (first >> 2 & 0x30303030u);
  return (first & 0x3f3f3f3fu) | static_cast<uint64_t>(upper) << 32;
}

inline void stream_row(q4_K, const uint8_t* block, const ActBlock* acts, int n_blocks, int row,
                       StreamBlock<q4_K>* out) {
  const I four = byte_mask(0x0f);
  const I index_low = word_indices(0, 2);
  const I index_high = word_indices(4, 6);
  for (int i = 0; i < n_blocks; ++i, block += q4_K::kBytes) {
    // Of 64 bytes of nibbles the low ones are sub-blocks 0 and 2, the high ones 1 and 3 (4 on for the second half).
    fetch_ahead<q4_K::kBytes>(block);
    const int8_t* q = acts[i].q;
    const I a = _mm512_loadu_si512(block + 16);
    const I b = _mm512_loadu_si512(block + 80);
    const I s02 = _mm512_dpbusd_epi32(zero_i(), and_i(a, four), join_256(q, q + 64));
    const I s13 = _mm512_dpbusd_epi32(zero_i(), and_i(shift_right_logical<4>(a), four), join_256(q + 32, q + 96));
    const I s46 = _mm512_dpbusd_epi32(zero_i(), and_i(b, four), join_256(q + 128, q + 192));
    const I s57 = _mm512_dpbusd_epi32(zero_i(), and_i(shift_right_logical<4>(b), four), join_256(q + 160, q + 224));
    // Sums of four products fit 16 bits. Packed, a 128-bit lane holds four of a low and four of a high sub-block.
    const I scales = _mm512_set1_epi64(static_cast<long long>(scale_bytes(block)));
    const I low = _mm512_dpwssd_epi32(zero_i(), _mm512_packs_epi32(s02, s13), _mm512_shuffle_epi8(scales, index_low));
    store_i(out[i].sums[row],
            _mm512_dpwssd_epi32(low, _mm512_packs_epi32(s46, s57), _mm512_shuffle_epi8(scales, index_high)));
  }
}

inline void finish_block(q4_K, const uint8_t* rows, int64_t row_bytes, const StreamBlock<q4_K>& block,
                         const ActBlock& act, float* out) {
  I header[4];
  load_lanes4(rows, row_bytes, header);
  Panel<ShapeOf<q4_K>> panel;
  unpack_header(header, panel);
  add_integer(sum_lanes(block.sums), panel, act, out);
}

inline void stream_row(q6_K, const uint8_t* block, const ActBlock* acts, int n_blocks, int row,
                       StreamBlock<q6_K>* out) {
  const I four = byte_mask(0x0f);
  const I upper = byte_mask(0x30);
  const I left = _mm512_set_epi32(2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4);
  const I right = _mm512_set_epi32(2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0);
  const I each_four = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  for (int i = 0; i < n_blocks; ++i, block += q6_K::kBytes) {
    // A 128-bit lane holds the products of one sub-block of 16; its first sum starts at what the codes' zero takes off.
    fetch_ahead<q6_K::kBytes>(block);
    const I zeros = shift_left<5>(load_i(acts[i].neg_sum16));
    const I scales = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 192)));
    I total = zero_i();
    unrolled<4>([&]<int kQuarter>() __attribute__((always_inline)) {  // weights 64 * kQuarter .. + 63
      const uint8_t* codes = block + kQuarter / 2 * 64;
      const I nibbles = _mm512_loadu_si512(codes);
      const I bits =
          _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 128 + kQuarter / 2 * 32)));
      const I low = and_i(kQuarter % 2 == 0 ? nibbles : shift_right_logical<4>(nibbles), four);
      const I high = and_i(kQuarter % 2 == 0 ? _mm512_sllv_epi32(bits, left) : _mm512_srlv_epi32(bits, right), upper);
      const I index = add_i(each_four, set1_i(4 * kQuarter));
      const I start = _mm512_maskz_permutexvar_epi32(0x1111, index, zeros);
      const I sums = _mm512_dpbusd_epi32(start, or_i(low, high), _mm512_loadu_si512(acts[i].q + 64 * kQuarter));
      total = add_i(total, mul_i(sums, _mm512_permutexvar_epi32(index, scales)));
    });
    store_i(out[i].sums[row], total);
    out[i].d[row] = load_u16(block + 208);
  }
}

inline void finish_block(q6_K, const uint8_t*, int64_t, const StreamBlock<q6_K>& block, const ActBlock& act,
                         float* out) {
  Panel<ShapeOf<q6_K>> panel;
  store_f(panel.d, load_half(reinterpret_cast<const uint8_t*>(block.d)));
  add_integer(sum_lanes(block.sums), panel, act, out);
}

inline void stream_row(q8_0, const uint8_t* block, const ActBlock* acts, int n_blocks, int row,
                       StreamBlock<q8_0>* out) {
  const I offset = byte_mask(0x80);
  // Words 0, 17, 34, 51 of 64 and the same of the next 64 are the scales.
  const I scale_words = _mm512_castsi128_si512(_mm_set_epi16(0, 0, 0, 0, 51, 34, 17, 0));
  for (int i = 0; i < n_blocks; ++i, block += 8 * q8_0::kBytes) {
    fetch_ahead<8 * q8_0::kBytes>(block);
    I sums[4];
    unrolled<4>([&]<int kPair>() __attribute__((always_inline)) {
      const uint8_t* first = block + 2 * kPair * q8_0::kBytes;
      const I codes = xor_i(join_256(first + 2, first + q8_0::kBytes + 2), offset);
      sums[kPair] = _mm512_dpbusd_epi32(zero_i(), codes, _mm512_loadu_si512(acts[i].q + 64 * kPair));
    });
    const I a = add_i(_mm512_unpacklo_epi32(sums[0], sums[1]), _mm512_unpackhi_epi32(sums[0], sums[1]));
    const I b = add_i(_mm512_unpacklo_epi32(sums[2], sums[3]), _mm512_unpackhi_epi32(sums[2], sums[3]));
    store_i(out[i].sums[row], add_i(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)));
    const auto load = [&](int at) { return _mm512_loadu_si512(block + at); };
    const I low = _mm512_permutex2var_epi16(load(0), scale_words, load(64));
    const I high = _mm512_permutex2var_epi16(load(136), scale_words, load(200));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[i].scale[row]),
                     _mm_unpacklo_epi64(_mm512_castsi512_si128(low), _mm512_castsi512_si128(high)));
  }
}

inline void finish_block(q8_0, const uint8_t*, int64_t, const StreamBlock<q8_0>& block, const ActBlock& act,
                         float* out) {
  I parts[16];
  load_lanes(reinterpret_cast<const uint8_t*>(block.sums), 64, parts);
  I scales[4];
  load_lanes4(reinterpret_cast<const uint8_t*>(block.scale), 16, scales);
  Panel<ShapeOf<q8_0>> panel;
  F t = zero_f();
  unrolled<8>([&]<int kSub>() __attribute__((always_inline)) {
    constexpr int kPart = kSub % 2 * 8 + kSub / 2;
    const I start = initial_sum<q8_0::kZero, true>(act.neg_sum32[kSub]);
    const I sum = add_i(add_i(parts[kPart], parts[kPart + 4]), start);
    store_f(panel.scale[kSub],
            half_lanes(kSub % 2 == 0 ? scales[kSub / 2] : shift_right_logical<16>(scales[kSub / 2])));
    t = add_real(t, sum, panel, act, kSub);
  });
  store_f(out, fma(t, set1_f(act.d), load_f(out)));
}

/// Blocks of a row that are kept at a time: 8,192 weights, 32 KiB.
constexpr int kStreamBlocks = 32;

/// Multiplies the 16 weight rows from n0 on with one activation row; args.k is a multiple of 256.
template <class Format>
[[gnu::noinline]] void stream_tile(const ProductArgs& args, int64_t n0) {
  constexpr int64_t kBlockBytes = kKBlock / Format::kBlock * Format::kBytes;
  alignas(64) float tile[16] = {};
  StreamBlock<Format> blocks[kStreamBlocks];
  for (int64_t first = 0; first * kKBlock < args.k; first += kStreamBlocks) {
    const int64_t left = args.k / kKBlock - first;
    const int n_blocks = static_cast<int>(left < kStreamBlocks ? left : kStreamBlocks);
    const auto* rows = reinterpret_cast<const uint8_t*>(args.weights) + n0 * args.row_bytes + first * kBlockBytes;
    for (int row = 0; row < 16; ++row) {
      stream_row(Format{}, rows + row * args.row_bytes, args.acts + first, n_blocks, row, blocks);
    }
    for (int i = 0; i < n_blocks; ++i) {
      finish_block(Format{}, rows + i * kBlockBytes, args.row_bytes, blocks[i], args.acts[first + i], tile);
    }
  }
  __builtin_memcpy(args.out + n0, tile, sizeof tile);
}

template <>
inline constexpr bool kHasStream<q4_K> = true;
template <>
inline constexpr bool kHasStream<q6_K> = true;
template <>
inline constexpr bool kHasStream<q8_0> = true;

}  // namespace
}  // namespace ferrox
