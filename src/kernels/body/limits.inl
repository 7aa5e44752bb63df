// How fast can one core go at all? Loops that only multiply, or only read, for everything else to be compared with.
namespace ferrox {
namespace {

/// Makes the compiler believe that `value` is read and written here: nothing is folded or thrown away.
template <class T>
inline void keep(T& value) {
  __asm__ volatile("" : : "r"(&value) : "memory");
}

/// kPeakChains chains beside each other: more than latency times throughput of the multipliers there are, in few enough
/// registers.
inline int64_t peak_f32(int64_t n_rounds) {
  float factor = 0.5f;
  keep(factor);
  const F w = set1_f(factor);
  F sums[kPeakChains];
  for (auto& sum : sums) sum = zero_f();
  for (int64_t round = 0; round < n_rounds; ++round) {
    for (auto& sum : sums) sum = fma(sum, w, w);
  }
  alignas(64) float kept[kPeakChains][16];
  for (int i = 0; i < kPeakChains; ++i) store_f(kept[i], sums[i]);
  keep(kept);
  return n_rounds * kPeakChains * 16 * 2;
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
