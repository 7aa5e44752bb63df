// F16: IEEE binary16.
namespace ferrox {
namespace {

struct f16 {
  static constexpr const char* kName = "F16";
  static constexpr DType kType = DType::kF16;
  static constexpr int kBlock = 1;
  static constexpr int kBytes = 2;
  static constexpr ScaleKind kScale = ScaleKind::kFloat;
  static float to_float(const uint8_t* p) { return load_f16(p); }
  static void decode(const uint8_t* block, float* out) { *out = to_float(block); }
};

}  // namespace
}  // namespace ferrox
