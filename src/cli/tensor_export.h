// How does a tensor leave the file as plain float32?
#pragma once

#include <filesystem>

#include "base/result.h"
#include "gguf/gguf_file.h"

namespace ferrox {

/// Writes n_elements little-endian float32 numbers, the first dimension running fastest. Errors: a type without
/// floats, a file that can't be written.
Result<void> export_tensor(const GgufTensor& tensor, const std::filesystem::path& path);

}  // namespace ferrox
