// How is a GGUF file written? Metadata and tensors are collected, then laid out in one pass.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gguf/value_reader.h"
#include "tensor/dtype.h"

namespace ferrox {

/// Collects a model and writes it as GGUF v3, little endian, data aligned to 32 bytes.
class GgufWriter {
 public:
  void set_uint32(std::string key, uint32_t value);
  void set_float32(std::string key, float value);
  void set_bool(std::string key, bool value);
  void set_string(std::string key, std::string value);
  void set_strings(std::string key, std::vector<std::string> values);
  void set_int32s(std::string key, std::vector<int32_t> values);
  void set_float32s(std::string key, std::vector<float> values);

  /// `produce` is called once while writing, with a sink that takes the tensor's bytes in order and in any pieces:
  /// a model of gigabytes never has to be in memory.
  using Sink = std::function<void(std::span<const std::byte>)>;
  void add_tensor(std::string name, DType dtype, std::vector<uint64_t> dims, std::function<void(const Sink&)> produce);
  void add_tensor(std::string name, DType dtype, std::vector<uint64_t> dims, std::vector<std::byte> bytes);

  /// Writes beside `path` and renames. Errors: I/O; a tensor whose producer gave another number of bytes.
  Result<void> write(const std::filesystem::path& path) const;

 private:
  struct Pair {
    std::string key;
    ValueType type;
    std::vector<std::byte> payload;  // as it stands in the file, after the type
  };
  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<uint64_t> dims;
    std::function<void(const Sink&)> produce;
  };

  Result<void> check_names() const;
  Result<std::vector<uint64_t>> tensor_sizes() const;                    // of tensors_, in bytes
  std::vector<std::byte> header(std::span<const uint64_t> sizes) const;  // up to the padding before the data

  std::vector<Pair> pairs_;
  std::vector<Tensor> tensors_;
};

}  // namespace ferrox
