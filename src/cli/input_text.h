// Where does a command's text come from? A file, or standard input.
#pragma once

#include <filesystem>
#include <istream>
#include <string>

#include "base/result.h"

namespace ferrox {

/// The whole file; "-" is standard input. Errors: missing file, directory, unreadable.
Result<std::string> read_text_file(const std::filesystem::path& path);

/// The rest of a stream.
std::string read_all(std::istream& stream);

}  // namespace ferrox
