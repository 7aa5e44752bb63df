#include "gguf/writer.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/checked_math.h"
#include "gguf/tensor_size.h"

namespace ferrox {
namespace {

constexpr uint32_t kVersion = 3;
constexpr uint64_t kAlignment = 32;

uint64_t aligned(uint64_t size_bytes) { return ceil_div(size_bytes, kAlignment) * kAlignment; }

void append_bytes(std::vector<std::byte>& out, const void* bytes, size_t size_bytes) {
  if (size_bytes == 0) return;
  const size_t at = out.size();
  out.resize(at + size_bytes);
  std::memcpy(out.data() + at, bytes, size_bytes);
}

template <class T>
void append(std::vector<std::byte>& out, T value) {
  append_bytes(out, &value, sizeof value);
}

void append_string(std::vector<std::byte>& out, std::string_view text) {
  append<uint64_t>(out, text.size());
  append_bytes(out, text.data(), text.size());
}

template <class T>
std::vector<std::byte> payload_of(T value) {
  std::vector<std::byte> out;
  append(out, value);
  return out;
}

std::vector<std::byte> array_start(ValueType type, size_t count) {
  auto out = payload_of(static_cast<uint32_t>(type));
  append<uint64_t>(out, count);
  return out;
}

template <class T>
std::vector<std::byte> array_payload(ValueType type, const std::vector<T>& values) {
  auto out = array_start(type, values.size());
  for (const T value : values) append(out, value);
  return out;
}

void put(std::ostream& out, std::span<const std::byte> bytes) {
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void put_padding(std::ostream& out, uint64_t size_bytes) {
  static constexpr std::byte kZeros[kAlignment] = {};
  put(out, std::span(kZeros).first(aligned(size_bytes) - size_bytes));
}

// Removes the unfinished file unless it was renamed into place.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path target)
      : target_(std::move(target)), path_(target_.string() + fmt::format(".part-{}", ::getpid())) {}
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

  Result<void> commit() const {
    std::error_code failure;
    std::filesystem::rename(path_, target_, failure);
    if (!failure) return {};
    return make_error(ErrorCode::kIo, "{}: cannot rename into place: {}", target_.string(), failure.message());
  }

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace

void GgufWriter::set_uint32(std::string key, uint32_t value) {
  pairs_.push_back({std::move(key), ValueType::kUint32, payload_of(value)});
}

void GgufWriter::set_float32(std::string key, float value) {
  pairs_.push_back({std::move(key), ValueType::kFloat32, payload_of(value)});
}

void GgufWriter::set_bool(std::string key, bool value) {
  pairs_.push_back({std::move(key), ValueType::kBool, payload_of(static_cast<uint8_t>(value))});
}

void GgufWriter::set_string(std::string key, std::string value) {
  std::vector<std::byte> payload;
  append_string(payload, value);
  pairs_.push_back({std::move(key), ValueType::kString, std::move(payload)});
}

void GgufWriter::set_strings(std::string key, std::vector<std::string> values) {
  auto payload = array_start(ValueType::kString, values.size());
  for (const auto& value : values) append_string(payload, value);
  pairs_.push_back({std::move(key), ValueType::kArray, std::move(payload)});
}

void GgufWriter::set_int32s(std::string key, std::vector<int32_t> values) {
  pairs_.push_back({std::move(key), ValueType::kArray, array_payload(ValueType::kInt32, values)});
}

void GgufWriter::set_float32s(std::string key, std::vector<float> values) {
  pairs_.push_back({std::move(key), ValueType::kArray, array_payload(ValueType::kFloat32, values)});
}

void GgufWriter::add_tensor(std::string name, DType dtype, std::vector<uint64_t> dims,
                            std::function<void(const Sink&)> produce) {
  tensors_.push_back({std::move(name), dtype, std::move(dims), std::move(produce)});
}

void GgufWriter::add_tensor(std::string name, DType dtype, std::vector<uint64_t> dims, std::vector<std::byte> bytes) {
  add_tensor(std::move(name), dtype, std::move(dims), [held = std::move(bytes)](const Sink& sink) { sink(held); });
}

Result<void> GgufWriter::check_names() const {
  std::set<std::string_view> keys;
  for (const auto& pair : pairs_) {
    if (!keys.insert(pair.key).second) {
      return make_error(ErrorCode::kInvalidArgument, "metadata key '{}' was set twice", pair.key);
    }
  }
  std::set<std::string_view> names;
  for (const auto& tensor : tensors_) {
    if (!names.insert(tensor.name).second) {
      return make_error(ErrorCode::kInvalidArgument, "tensor '{}' was added twice", tensor.name);
    }
  }
  return {};
}

Result<std::vector<uint64_t>> GgufWriter::tensor_sizes() const {
  std::vector<uint64_t> sizes;
  for (const auto& tensor : tensors_) {
    const auto size = tensor_size(tensor.dtype, tensor.dims);
    if (!size) {
      return make_error(ErrorCode::kInvalidArgument, "tensor '{}': {}", tensor.name, size.error().message);
    }
    sizes.push_back(size->size_bytes);
  }
  return sizes;
}

std::vector<std::byte> GgufWriter::header(std::span<const uint64_t> sizes) const {
  std::vector<std::byte> out;
  for (const char c : {'G', 'G', 'U', 'F'}) append(out, c);
  append(out, kVersion);
  append<uint64_t>(out, tensors_.size());
  append<uint64_t>(out, pairs_.size());
  for (const auto& pair : pairs_) {
    append_string(out, pair.key);
    append(out, pair.type);
    append_bytes(out, pair.payload.data(), pair.payload.size());
  }
  uint64_t offset = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    append_string(out, tensors_[i].name);
    append(out, static_cast<uint32_t>(tensors_[i].dims.size()));
    for (const auto dim : tensors_[i].dims) append(out, dim);
    append(out, tensors_[i].dtype);
    append(out, offset);
    offset += aligned(sizes[i]);
  }
  return out;
}

Result<void> GgufWriter::write(const std::filesystem::path& path) const {
  TRY(check_names());
  TRY_ASSIGN(const auto sizes, tensor_sizes());
  const PendingFile pending(path);
  std::ofstream out(pending.path(), std::ios::binary | std::ios::trunc);
  const auto start = header(sizes);
  put(out, start);
  put_padding(out, start.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    uint64_t written = 0;
    tensors_[i].produce([&](std::span<const std::byte> bytes) {
      put(out, bytes);
      written += bytes.size();
    });
    if (written != sizes[i]) {
      return make_error(ErrorCode::kInvalidArgument, "tensor '{}': expected {} bytes, its producer gave {}",
                        tensors_[i].name, sizes[i], written);
    }
    put_padding(out, written);
  }
  out.close();
  if (!out) {
    return make_error(ErrorCode::kIo, "{}: cannot write: {}", pending.path().string(), std::strerror(errno));
  }
  return pending.commit();
}

}  // namespace ferrox
