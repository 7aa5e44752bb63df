// Which files belong to a model that was split? name-00001-of-0000N.gguf and so on.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace ferrox {

/// The path of part `index` (from 0) of `n_parts`, given the path of the first part. Errors: the first part isn't
/// named as the first of n_parts.
Result<std::filesystem::path> split_part(const std::filesystem::path& first, uint64_t index, uint64_t n_parts);

}  // namespace ferrox
