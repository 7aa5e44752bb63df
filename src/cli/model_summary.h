// What does a model file amount to? Its tensors by type, its parameters and its KV bytes a token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gguf/gguf_file.h"

namespace ferrox {

/// All tensors of one type.
struct TypeShare {
  std::string type;
  uint64_t n_tensors = 0;
  uint64_t n_elements = 0;
  uint64_t size_bytes = 0;
};

struct ModelSummary {
  std::string architecture;                    ///< empty when the file doesn't say
  std::vector<TypeShare> types;                ///< the largest share of bytes first
  uint64_t n_parameters = 0;                   ///< elements of all tensors; saturates
  std::optional<uint64_t> kv_bytes_per_token;  ///< with f16 rows; absent when the file doesn't say enough
};

/// Works on any file: what the metadata lacks is left out.
ModelSummary summarize(const GgufFile& file);

/// "Q4_K"; for a type that holds no weights "I32".
std::string dtype_name(DType dtype);

}  // namespace ferrox
