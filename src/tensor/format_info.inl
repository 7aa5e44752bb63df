// Makes a registry row from a format's struct.
namespace ferrox {
namespace {

template <class Format>
void decode_row(const std::byte* row, float* out, int64_t n_elements) {
  const auto* block = reinterpret_cast<const uint8_t*>(row);
  for (int64_t i = 0; i < n_elements; i += Format::kBlock, block += Format::kBytes) Format::decode(block, out + i);
}

template <class Format>
constexpr FormatInfo format_info() {
  return {Format::kName, Format::kType, Format::kBlock, Format::kBytes, decode_row<Format>};
}

}  // namespace
}  // namespace ferrox
