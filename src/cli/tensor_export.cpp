#include "cli/tensor_export.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "cli/model_summary.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

// Decoded at a time: a multiple of every block, small enough for any machine.
constexpr uint64_t kSliceElements = 1 << 16;

void write_floats(std::ofstream& out, const std::vector<float>& floats, uint64_t n) {
  out.write(reinterpret_cast<const char*>(floats.data()), static_cast<std::streamsize>(n * sizeof(float)));
}

void export_weights(const GgufTensor& tensor, const FormatInfo& format, std::ofstream& out) {
  std::vector<float> slice(std::min(tensor.n_elements, kSliceElements));
  for (uint64_t first = 0; first < tensor.n_elements && out; first += kSliceElements) {
    const uint64_t n = std::min(kSliceElements, tensor.n_elements - first);
    const uint64_t offset = first / format.block_elements * format.block_bytes;
    format.decode(tensor.data + offset, slice.data(), static_cast<int64_t>(n));
    write_floats(out, slice, n);
  }
}

void export_integers(const GgufTensor& tensor, std::ofstream& out) {
  for (uint64_t i = 0; i < tensor.n_elements && out; ++i) {
    int32_t number = 0;
    std::memcpy(&number, tensor.data + i * sizeof number, sizeof number);
    write_floats(out, {static_cast<float>(number)}, 1);
  }
}

}  // namespace

Result<void> export_tensor(const GgufTensor& tensor, const std::filesystem::path& path) {
  const FormatInfo* format = find_format(tensor.dtype);
  if (format == nullptr && tensor.dtype != DType::kI32) {
    return make_error(ErrorCode::kUnsupported, "tensor '{}': no numbers can be read from {}", tensor.name,
                      dtype_name(tensor.dtype));
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return make_error(ErrorCode::kIo, "{}: can't write: {}", path.string(), std::strerror(errno));
  if (format != nullptr) {
    export_weights(tensor, *format, out);
  } else {
    export_integers(tensor, out);
  }
  out.close();
  if (!out) return make_error(ErrorCode::kIo, "{}: can't write all of it: {}", path.string(), std::strerror(errno));
  return {};
}

}  // namespace ferrox
