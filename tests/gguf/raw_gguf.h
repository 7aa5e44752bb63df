// How does a test write a GGUF file with lies in it? Field by field, with nothing checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf_file.h"
#include "gguf/value_reader.h"

namespace ferrox::testing {

class RawGguf {
 public:
  /// The fields before the first pair.
  static RawGguf start(uint64_t n_tensors, uint64_t n_pairs, uint32_t version = 3) {
    RawGguf out;
    out.text("GGUF").number(version).number(n_tensors).number(n_pairs);
    return out;
  }

  RawGguf& text(std::string_view bytes) { return append(bytes.data(), bytes.size()); }

  template <class T>
  RawGguf& number(T value) {
    return append(&value, sizeof value);
  }

  RawGguf& string(std::string_view value) { return number<uint64_t>(value.size()).text(value); }
  RawGguf& type(ValueType type) { return number(static_cast<uint32_t>(type)); }
  RawGguf& key(std::string_view name, ValueType value_type) { return string(name).type(value_type); }
  RawGguf& array(std::string_view name, ValueType element, uint64_t count) {
    return key(name, ValueType::kArray).type(element).number(count);
  }

  RawGguf& tensor(std::string_view name, std::vector<uint64_t> dims, uint32_t dtype, uint64_t offset) {
    string(name).number(static_cast<uint32_t>(dims.size()));
    for (const auto dim : dims) number(dim);
    return number(dtype).number(offset);
  }

  /// Zeros up to the next multiple of `alignment`, then size_bytes more.
  RawGguf& data(size_t size_bytes, size_t alignment = 32) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment + size_bytes);
    return *this;
  }

  size_t size() const { return bytes_.size(); }
  std::vector<std::byte>& bytes() { return bytes_; }
  Result<GgufFile> parse() const { return GgufFile::parse(bytes_, "raw"); }

 private:
  RawGguf& append(const void* from, size_t size_bytes) {
    const auto* bytes = static_cast<const std::byte*>(from);
    for (size_t i = 0; i < size_bytes; ++i) bytes_.push_back(bytes[i]);
    return *this;
  }

  std::vector<std::byte> bytes_;
};

}  // namespace ferrox::testing
