// How do pieces of memory go to a file and come back, whole or not at all? By descriptor, without buffers between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace ferrox {

/// Closes what it holds.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// An error that says what errno says; kNotFound for ENOENT, kIo otherwise.
Error system_error(const std::string& where, const char* step);

/// Size of a regular file. Errors: anything else (kUnsupported), what the system refuses.
Result<uint64_t> regular_file_bytes(int fd);

/// Fills the pieces in order with what the file has from `offset` on. Errors: a file that ends before (kCorrupt), what
/// the system refuses (kIo).
Result<void> read_pieces(int fd, uint64_t offset, std::span<const std::span<std::byte>> pieces);
Result<void> read_bytes(int fd, uint64_t offset, std::span<std::byte> bytes);

/// Appends the pieces. Errors: a full disk and whatever else the system refuses.
Result<void> write_pieces(int fd, std::span<const std::span<const std::byte>> pieces);
Result<void> write_bytes_at(int fd, uint64_t offset, std::span<const std::byte> bytes);

}  // namespace ferrox
