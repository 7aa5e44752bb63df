#include "cli/input_text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

namespace ferrox {

std::string read_all(std::istream& stream) { return std::string(std::istreambuf_iterator<char>(stream), {}); }

Result<std::string> read_text_file(const std::filesystem::path& path) {
  if (path == "-") return read_all(std::cin);
  if (std::filesystem::is_directory(path)) {
    return make_error(ErrorCode::kIo, "{}: expected a file, found a directory", path.string());
  }
  std::ifstream file(path, std::ios::binary);  // a stream, not a map: a shell may hand over a pipe
  if (!file) return make_error(ErrorCode::kNotFound, "{}: can't open: {}", path.string(), std::strerror(errno));
  return read_all(file);
}

}  // namespace ferrox
