#include "tier/file_io.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace ferrox {
namespace {

/// Pieces that one call takes; the system's limit is 1,024.
constexpr size_t kPiecesPerCall = 256;

/// Walks over pieces, of which a call may finish only some.
template <class Byte>
class PieceCursor {
 public:
  explicit PieceCursor(std::span<const std::span<Byte>> pieces) : pieces_(pieces) { skip_empty(); }

  bool is_done() const { return next_ == pieces_.size(); }

  /// What is left of the next pieces.
  std::span<const iovec> vectors() {
    size_t n = 0;
    size_t within = within_;
    for (size_t i = next_; i < pieces_.size() && n < vectors_.size(); ++i, within = 0) {
      auto* const data = const_cast<std::byte*>(pieces_[i].data());
      vectors_[n++] = {.iov_base = data + within, .iov_len = pieces_[i].size() - within};
    }
    return std::span(vectors_).first(n);
  }

  void advance(size_t n_bytes) {
    while (n_bytes > 0) {
      const size_t step = std::min(n_bytes, pieces_[next_].size() - within_);
      n_bytes -= step;
      within_ += step;
      skip_empty();
    }
  }

 private:
  void skip_empty() {
    while (next_ < pieces_.size() && within_ == pieces_[next_].size()) {
      ++next_;
      within_ = 0;
    }
  }

  std::span<const std::span<Byte>> pieces_;
  size_t next_ = 0;
  size_t within_ = 0;
  std::array<iovec, kPiecesPerCall> vectors_;
};

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Error system_error(const std::string& where, const char* step) {
  const auto code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return make_error(code, "{}: can't {}: {}", where, step, std::strerror(errno));
}

Result<uint64_t> regular_file_bytes(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return system_error("file", "stat");
  if (!S_ISREG(info.st_mode))
    return make_error(ErrorCode::kUnsupported, "expected a regular file, found another thing");
  return static_cast<uint64_t>(info.st_size);
}

Result<void> read_pieces(int fd, uint64_t offset, std::span<const std::span<std::byte>> pieces) {
  PieceCursor<std::byte> cursor(pieces);
  while (!cursor.is_done()) {
    const auto vectors = cursor.vectors();
    const ssize_t n = ::preadv(fd, vectors.data(), static_cast<int>(vectors.size()), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("file", "read");
    if (n == 0)
      return make_error(ErrorCode::kCorrupt, "expected more bytes past byte {}, found the file's end", offset);
    offset += static_cast<uint64_t>(n);
    cursor.advance(static_cast<size_t>(n));
  }
  return {};
}

Result<void> read_bytes(int fd, uint64_t offset, std::span<std::byte> bytes) {
  return read_pieces(fd, offset, std::span(&bytes, 1));
}

Result<void> write_pieces(int fd, std::span<const std::span<const std::byte>> pieces) {
  PieceCursor<const std::byte> cursor(pieces);
  while (!cursor.is_done()) {
    const auto vectors = cursor.vectors();
    const ssize_t n = ::writev(fd, vectors.data(), static_cast<int>(vectors.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("file", "write");
    cursor.advance(static_cast<size_t>(n));
  }
  return {};
}

Result<void> write_bytes_at(int fd, uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("file", "write");
    offset += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace ferrox
