// F32: IEEE binary32, as it is.
namespace ferrox {
namespace {

struct f32 {
  static constexpr const char* kName = "F32";
  static constexpr DType kType = DType::kF32;
  static constexpr int kBlock = 1;
  static constexpr int kBytes = 4;
  static constexpr ScaleKind kScale = ScaleKind::kFloat;
  static float to_float(const uint8_t* p) { return load_f32(p); }
  static void decode(const uint8_t* block, float* out) { *out = to_float(block); }
};

}  // namespace
}  // namespace ferrox
