// How is a row of K or V kept? As numbers of 16 or 32 bits, or in blocks of 32 codes behind a scale of 16 bits:
//
//   q8_0           [d: f16][32 x int8]                  d * code
//   q4_0, turbo4   [d: f16][16 x two nibbles]           d * (code - 8), d * kTurboLevels[code]
//                  byte i holds code i below and code i + 16 above
//
// A turbo4 row is rotated before: multiplied with a Hadamard matrix, which spreads what a few elements hold over all of
// them, so that no element of a block stands out. The matrix is its own inverse and keeps products of two rows.
namespace ferrox {
namespace {

constexpr int kKvBlock = 32;

/// Levels of least squared error for normal numbers that are divided by the largest magnitude of their 32.
alignas(64) constexpr float kTurboLevels[16] = {-0.9735f, -0.7727f, -0.6179f, -0.4869f, -0.3675f, -0.2564f,
                                                -0.1505f, -0.0493f, 0.0493f,  0.1505f,  0.2564f,  0.3675f,
                                                0.4869f,  0.6179f,  0.7727f,  0.9735f};

/// x = H x / sqrt(size), in runs of the largest power of two that divides n.
inline void rotate_row(int64_t n, float* x) {
  const int64_t size = n & -n;
  for (int64_t half = 1; half < size; half *= 2) {
    for (int64_t i = 0; i < n; i += 2 * half) {
      for (int64_t j = i; j < i + half; ++j) {
        const float a = x[j];
        const float b = x[j + half];
        x[j] = a + b;
        x[j + half] = a - b;
      }
    }
  }
  scale_row(1.0f / __builtin_sqrtf(static_cast<float>(size)), n, x);
}

/// Largest magnitude of 32 numbers; NaN where one isn't finite.
inline float block_top(const float* x) {
  const F a = load_f(x);
  const F b = load_f(x + 16);
  const I magnitude = set1_i(0x7fffffff);
  const float top = hmax(max_f(and_bits(a, magnitude), and_bits(b, magnitude)));
  return top + hsum(mul(add(a, b), zero_f()));
}

/// Writes the scale and returns what numbers are to be multiplied with.
inline float store_scale(float d, uint8_t* out) {
  const uint16_t bits = float_to_half(d);
  __builtin_memcpy(out, &bits, 2);
  const float kept = half_to_float(bits);
  return kept != 0.0f ? 1.0f / kept : 0.0f;
}

/// x * inverse to whole numbers in [low, high]; a NaN becomes `low`.
inline void round_block(const float* x, float inverse, float low, float high, int32_t* codes) {
  for (int i = 0; i < kKvBlock; i += 16) {
    const F scaled = mul(load_f(x + i), set1_f(inverse));
    store_i(codes + i, round_to_int(min_f(max_f(scaled, set1_f(low)), set1_f(high))));
  }
}

inline void store_q8_block(const float* x, uint8_t* out) {
  int32_t codes[kKvBlock];
  round_block(x, store_scale(block_top(x) / 127.0f, out), -127.0f, 127.0f, codes);
  for (int i = 0; i < kKvBlock; ++i) out[2 + i] = static_cast<uint8_t>(codes[i]);
}

inline void store_nibbles(const int32_t* codes, uint8_t* out) {
  for (int i = 0; i < 16; ++i) out[i] = static_cast<uint8_t>(codes[i] | codes[i + 16] << 4);
}

/// The number of largest magnitude gets code 0, which is -8: one level more than its sign's opposite has.
inline void store_q4_block(const float* x, uint8_t* out) {
  const float top = block_top(x);
  float extreme = top;
  for (int i = kKvBlock - 1; i >= 0; --i) {
    if (x[i] == top || x[i] == -top) extreme = x[i];
  }
  int32_t codes[kKvBlock];
  round_block(x, store_scale(extreme / -8.0f, out), -8.0f, 7.0f, codes);
  for (int32_t& code : codes) code += 8;
  store_nibbles(codes, out + 2);
}

/// The nearest level; halfway between two, the lower.
inline int32_t turbo_code(float x) {
  int32_t code = 0;
  for (int i = 0; i < 15; ++i) code += x > (kTurboLevels[i] + kTurboLevels[i + 1]) * 0.5f ? 1 : 0;
  return code;
}

inline void store_turbo_block(const float* x, uint8_t* out) {
  const float inverse = store_scale(block_top(x), out);
  int32_t codes[kKvBlock];
  for (int i = 0; i < kKvBlock; ++i) codes[i] = turbo_code(x[i] * inverse);
  store_nibbles(codes, out + 2);
}

inline void store_turbo_row(const float* x, int64_t n, uint8_t* out) {
  alignas(64) float rotated[1024];  // heads are at most so wide
  __builtin_memcpy(rotated, x, static_cast<size_t>(n) * 4);
  rotate_row(n, rotated);
  for (int64_t i = 0; i < n; i += kKvBlock) store_turbo_block(rotated + i, out + i / kKvBlock * 18);
}

inline void store_row(const float* x, int64_t n, DType dtype, std::byte* out) {
  auto* bytes = reinterpret_cast<uint8_t*>(out);
  if (dtype == DType::kF32) {
    __builtin_memcpy(bytes, x, static_cast<size_t>(n) * 4);
    return;
  }
  if (dtype == DType::kTurbo4) return store_turbo_row(x, n, bytes);
  if (dtype == DType::kQ8_0) {
    for (int64_t i = 0; i < n; i += kKvBlock) store_q8_block(x + i, bytes + i / kKvBlock * 34);
    return;
  }
  if (dtype == DType::kQ4_0) {
    for (int64_t i = 0; i < n; i += kKvBlock) store_q4_block(x + i, bytes + i / kKvBlock * 18);
    return;
  }
  int64_t i = 0;
  if (dtype == DType::kF16) {
    for (; i + 16 <= n; i += 16) store_half(bytes + 2 * i, load_f(x + i));
  }
  for (; i < n; ++i) {
    const uint16_t bits = dtype == DType::kF16 ? float_to_half(x[i]) : float_to_bf16(x[i]);
    __builtin_memcpy(bytes + 2 * i, &bits, 2);
  }
}

inline void load_q8_row(const uint8_t* bytes, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kKvBlock, bytes += 34) {
    const F d = set1_f(half_to_float(load_u16(bytes)));
    store_f(out + i, mul(d, to_float(load_signed_bytes(bytes + 2))));
    store_f(out + i + 16, mul(d, to_float(load_signed_bytes(bytes + 18))));
  }
}

inline void load_q4_row(const uint8_t* bytes, int64_t n, float* out) {
  const I eight = set1_i(-8);
  for (int64_t i = 0; i < n; i += kKvBlock, bytes += 18) {
    const F d = set1_f(half_to_float(load_u16(bytes)));
    const I codes = load_bytes(bytes + 2);
    store_f(out + i, mul(d, to_float(add_i(and_i(codes, set1_i(15)), eight))));
    store_f(out + i + 16, mul(d, to_float(add_i(shift_right<4>(codes), eight))));
  }
}

inline void load_turbo_row(const uint8_t* bytes, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kKvBlock, bytes += 18) {
    const F d = set1_f(half_to_float(load_u16(bytes)));
    const I codes = load_bytes(bytes + 2);
    store_f(out + i, mul(d, lookup16(kTurboLevels, and_i(codes, set1_i(15)))));
    store_f(out + i + 16, mul(d, lookup16(kTurboLevels, shift_right<4>(codes))));
  }
}

inline void load_row(const std::byte* x, int64_t n, DType dtype, float* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(x);
  int64_t i = 0;
  switch (dtype) {
    case DType::kF16:
      for (; i + 16 <= n; i += 16) store_f(out + i, load_half(bytes + 2 * i));
      for (; i < n; ++i) out[i] = half_to_float(load_u16(bytes + 2 * i));
      return;
    case DType::kBF16:
      for (; i + 16 <= n; i += 16) store_f(out + i, load_bf16(bytes + 2 * i));
      for (; i < n; ++i) out[i] = bf16_to_float(load_u16(bytes + 2 * i));
      return;
    case DType::kQ8_0:
      return load_q8_row(bytes, n, out);
    case DType::kQ4_0:
      return load_q4_row(bytes, n, out);
    case DType::kTurbo4:
      return load_turbo_row(bytes, n, out);
    default:
      __builtin_memcpy(out, bytes, static_cast<size_t>(n) * 4);
  }
}

}  // namespace
}  // namespace ferrox
