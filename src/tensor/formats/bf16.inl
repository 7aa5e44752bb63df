// BF16: the upper half of an IEEE binary32.
namespace ferrox {
namespace {

struct bf16 {
  static constexpr const char* kName = "BF16";
  static constexpr DType kType = DType::kBF16;
  static constexpr int kBlock = 1;
  static constexpr int kBytes = 2;
  static constexpr ScaleKind kScale = ScaleKind::kFloat;
  static float to_float(const uint8_t* p) { return bf16_to_float(load_u16(p)); }
  static void decode(const uint8_t* block, float* out) { *out = to_float(block); }
};

}  // namespace
}  // namespace ferrox
