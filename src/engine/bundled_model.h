// Which model answers when none is named? The one that is part of the program.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace ferrox {

inline constexpr const char* kBundledModelId = "ferrox-demo";

/// The bytes of the embedded GGUF file, there as long as the program. Error: kNotFound when this build has none.
Result<std::span<const std::byte>> bundled_model();

}  // namespace ferrox
