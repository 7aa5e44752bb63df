// How many products of bytes can one core add up at most, where one instruction adds four to a lane?
namespace ferrox {
namespace {

/// As many chains beside each other as peak_f32 has.
inline int64_t peak_int8(int64_t n_rounds) {
  alignas(64) uint8_t codes[64] = {1, 2, 3};
  int32_t x = 0x01020304;
  keep(codes);
  keep(x);
  const W w = load_w<false>(codes);
  I sums[kPeakChains];
  for (auto& sum : sums) sum = zero_i();
  for (int64_t round = 0; round < n_rounds; ++round) {
    for (auto& sum : sums) sum = dot4<false>(sum, w, x);
  }
  alignas(64) int32_t kept[kPeakChains][16];
  for (int i = 0; i < kPeakChains; ++i) store_i(kept[i], sums[i]);
  keep(kept);
  return n_rounds * kPeakChains * 64 * 2;
}

}  // namespace
}  // namespace ferrox
