// Which file does a command read when it only looks at one? The one that -m names, or the bundled one.
#pragma once

#include <string>

#include "base/result.h"
#include "gguf/gguf_file.h"

namespace ferrox {

/// `path` empty: the bundled model. Errors name the file.
Result<GgufFile> open_model_file(const std::string& path);

}  // namespace ferrox
