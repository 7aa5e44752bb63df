// How fast can one core go at all? Loops that only multiply, or only read, for everything else to be compared with.
namespace ferrox {
namespace {

/// Makes the compiler believe that `value` is read and written here: nothing is folded or thrown away.
template <class T>
inline void keep(T& value) {
  __asm__ volatile("" : : "r"(&value) : "memory");
}

/// 12 chains beside each other: more than latency times throughput of the multipliers there are, in few enough
/// registers.
inline int64_t peak_int8(int64_t n_rounds) {
  alignas(64) uint8_t codes[64] = {1, 2, 3};
  int32_t x = 0x01020304;
  keep(codes);
  keep(x);
  const W w = load_w<false>(codes);
  I sums[6][2];
  for (auto& pair : sums) pair[0] = pair[1] = zero_i();
  for (int64_t round = 0; round < n_rounds; ++round) {
    for (auto& pair : sums) {
      pair[0] = dot4<false>(pair[0], w, x);
      pair[1] = dot4<false>(pair[1], w, x);
    }
  }
  alignas(64) int32_t kept[12][16];
  for (int i = 0; i < 12; ++i) store_i(kept[i], sums[i / 2][i % 2]);
  keep(kept);
  return n_rounds * 12 * 64 * 2;
}

inline int64_t peak_f32(int64_t n_rounds) {
  float factor = 0.5f;
  keep(factor);
  const F w = set1_f(factor);
  F sums[6][2];
  for (auto& pair : sums) pair[0] = pair[1] = zero_f();
  for (int64_t round = 0; round < n_rounds; ++round) {
    for (auto& pair : sums) {
      pair[0] = fma(pair[0], w, w);
      pair[1] = fma(pair[1], w, w);
    }
  }
  alignas(64) float kept[12][16];
  for (int i = 0; i < 12; ++i) store_f(kept[i], sums[i / 2][i % 2]);
  keep(kept);
  return n_rounds * 12 * 16 * 2;
}

inline int64_t peak_read(const std::byte* bytes, int64_t n_bytes) {
  const auto* p = reinterpret_cast<const int32_t*>(bytes);
  I sums[4];
  for (auto& sum : sums) sum = zero_i();
  const int64_t n = n_bytes / 256 * 64;
  for (int64_t i = 0; i < n; i += 64) {
    for (int j = 0; j < 4; ++j) sums[j] = or_i(sums[j], load_i(p + i + 16 * j));
  }
  alignas(64) int32_t kept[4][16];
  for (int i = 0; i < 4; ++i) store_i(kept[i], sums[i]);
  keep(kept);
  return n * 4;
}

}  // namespace
}  // namespace ferrox
