// What is this file, when it isn't a GGUF file that can be read?
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace ferrox {

/// Accepts bytes that start as a little-endian GGUF file does; names anything else and says what to do about it.
Result<void> check_magic(std::span<const std::byte> bytes);

}  // namespace ferrox
