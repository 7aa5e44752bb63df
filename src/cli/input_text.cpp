#include "cli/input_text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ferrox {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;  // a device that never ends must not take all memory
constexpr size_t kPieceBytes = 1 << 16;

Result<std::string> read_all(std::FILE* stream, const std::string& name) {
  std::string text;
  for (size_t n_read = kPieceBytes; n_read == kPieceBytes;) {
    const size_t n_before = text.size();
    text.resize(n_before + kPieceBytes);
    n_read = std::fread(text.data() + n_before, 1, kPieceBytes, stream);
    text.resize(n_before + n_read);
    if (text.size() > kMostBytes) {
      return make_error(ErrorCode::kInvalidArgument, "{}: expected at most {} bytes of text, found more", name,
                        kMostBytes);
    }
  }
  if (std::ferror(stream) == 0) return text;
  if (errno == EISDIR) return make_error(ErrorCode::kIo, "{}: expected a file, found a directory", name);
  return make_error(ErrorCode::kIo, "{}: can't read: {}", name, std::strerror(errno));
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  if (path == "-") return read_all(stdin, "standard input");
  // A stream, not a map: a shell may hand over a pipe.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return make_error(ErrorCode::kNotFound, "{}: can't open: {}", path, std::strerror(errno));
  return read_all(file.get(), path);
}

}  // namespace ferrox
