// Where does a command's text come from? A file, or standard input.
#pragma once

#include <string>

#include "base/result.h"

namespace ferrox {

/// The whole file; "-" is standard input. Errors: a file that is missing, a directory, unreadable or beyond 1 GiB.
Result<std::string> read_text_file(const std::string& path);

}  // namespace ferrox
