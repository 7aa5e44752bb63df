// How are lanes filled and counted through? What every body needs, on top of an ISA's vec.h.
namespace ferrox {
namespace {

template <class Step, int... kIndices>
[[gnu::always_inline]] inline void unroll(const Step& step, std::integer_sequence<int, kIndices...>) {
  (step.template operator()<kIndices>(), ...);
}

/// Calls step.operator()<i>() for i in [0, kCount): what a constant selects can stay in registers.
template <int kCount, class Step>
[[gnu::always_inline]] inline void unrolled(const Step& step) {
  unroll(step, std::make_integer_sequence<int, kCount>{});
}

/// dst[i][row] = src[row][i] for 16 rows of 16 dwords; src rows are stride bytes apart, dst rows 64.
inline void transpose16(const uint8_t* src, int64_t stride, uint8_t* dst) {
  I lanes[16];
  load_lanes(src, stride, lanes);
  for (int i = 0; i < 16; ++i) store_i(reinterpret_cast<int32_t*>(dst) + 16 * i, lanes[i]);
}

}  // namespace
}  // namespace ferrox
