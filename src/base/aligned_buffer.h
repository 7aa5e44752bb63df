// Where do numbers lie that many threads compute with? In memory of their own, aligned for vectors.
#pragma once

#include <cstdint>
#include <utility>

namespace ferrox {

/// 64-byte aligned memory. Large pieces are promises: the machine gives their pages as they are touched, so that a size
/// which it doesn't have can still be named, priced and refused.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// Throws std::bad_alloc when the address space has no room.
  explicit AlignedMemory(uint64_t size_bytes);
  AlignedMemory(AlignedMemory&& other) noexcept { *this = std::move(other); }
  AlignedMemory& operator=(AlignedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  ~AlignedMemory();

  void* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  void* data_ = nullptr;
  uint64_t size_bytes_ = 0;
};

/// n values of T, uninitialised.
template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(int64_t n) : size_(n), memory_(static_cast<uint64_t>(n) * sizeof(T)) {}

  T* data() const { return static_cast<T*>(memory_.data()); }
  int64_t size() const { return size_; }
  uint64_t size_bytes() const { return memory_.size_bytes(); }

 private:
  int64_t size_ = 0;
  AlignedMemory memory_;
};

}  // namespace ferrox
