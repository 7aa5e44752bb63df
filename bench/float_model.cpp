// What would a model say if its weights were multiplied as floats? float_model IN.gguf OUT.gguf writes the same model
// with every weight decoded to F32: the path that a quantised file's own arithmetic is judged by.
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "gguf/gguf_file.h"
#include "gguf/writer.h"
#include "tensor/format.h"

namespace ferrox::bench {
namespace {

/// Decoded at a time: a multiple of every block.
constexpr uint64_t kSliceElements = 1 << 16;

/// One metadata pair; false for a value that the writer can't write.
class PairCopier {
 public:
  PairCopier(GgufWriter& writer, const std::string& key) : writer_(writer), key_(key) {}

  bool operator()(uint64_t value) {
    if (!std::in_range<uint32_t>(value)) return false;
    return writer_.set_uint32(key_, static_cast<uint32_t>(value)), true;
  }
  bool operator()(int64_t value) { return value >= 0 && (*this)(static_cast<uint64_t>(value)); }
  bool operator()(double value) { return writer_.set_float32(key_, static_cast<float>(value)), true; }
  bool operator()(bool value) { return writer_.set_bool(key_, value), true; }
  bool operator()(const std::string& value) { return writer_.set_string(key_, value), true; }
  bool operator()(const MetaArray& array) { return std::visit(*this, array); }
  bool operator()(const std::vector<std::string_view>& values) {
    return writer_.set_strings(key_, {values.begin(), values.end()}), true;
  }
  bool operator()(const std::vector<double>& values) {
    return writer_.set_float32s(key_, {values.begin(), values.end()}), true;
  }
  bool operator()(const std::vector<bool>&) { return false; }
  bool operator()(const std::vector<int64_t>& values) { return copy_integers(values); }
  bool operator()(const std::vector<uint64_t>& values) { return copy_integers(values); }

 private:
  template <class T>
  bool copy_integers(const std::vector<T>& values) {
    const bool fit = std::all_of(values.begin(), values.end(), [](T value) { return std::in_range<int32_t>(value); });
    if (fit) writer_.set_int32s(key_, {values.begin(), values.end()});
    return fit;
  }

  GgufWriter& writer_;
  const std::string& key_;
};

void decode_all(const GgufTensor& tensor, const FormatInfo& format, const GgufWriter::Sink& sink) {
  std::vector<float> slice(std::min(tensor.n_elements, kSliceElements));
  for (uint64_t first = 0; first < tensor.n_elements; first += kSliceElements) {
    const uint64_t n = std::min(kSliceElements, tensor.n_elements - first);
    const uint64_t offset =
        first / static_cast<uint64_t>(format.block_elements) * static_cast<uint64_t>(format.block_bytes);
    format.decode(tensor.data + offset, slice.data(), static_cast<int64_t>(n));
    sink(std::as_bytes(std::span(slice).first(n)));
  }
}

Result<void> copy_as_floats(const GgufFile& file, const std::string& path) {
  GgufWriter writer;
  for (const auto& [key, value] : file.metadata().entries()) {
    if (key == "general.alignment" || std::visit(PairCopier(writer, key), value)) continue;
    return make_error(ErrorCode::kUnsupported, "{}: {} can't be written", key, value_kind(value));
  }
  for (const GgufTensor& tensor : file.tensors()) {
    const FormatInfo* format = find_format(tensor.dtype);
    if (format == nullptr) return make_error(ErrorCode::kUnsupported, "{}: holds no weights", tensor.name);
    writer.add_tensor(tensor.name, DType::kF32, tensor.dims,
                      [&tensor, format](const GgufWriter::Sink& sink) { decode_all(tensor, *format, sink); });
  }
  return writer.write(path);
}

int run(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: float_model IN.gguf OUT.gguf\n");
    return 2;
  }
  const auto file = GgufFile::open(argv[1]);
  const auto written = file ? copy_as_floats(*file, argv[2]) : Result<void>(file.error());
  if (!written) fmt::print(stderr, "float_model: {}\n", written.error().message);
  return written ? 0 : 1;
}

}  // namespace
}  // namespace ferrox::bench

int main(int argc, char** argv) { return ferrox::bench::run(argc, argv); }
