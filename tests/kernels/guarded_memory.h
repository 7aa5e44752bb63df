// Does a kernel stay inside its buffers? Memory that ends where the next byte can't be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace ferrox::testing {

/// `size_bytes` bytes whose end is the end of a page; the page after it has no access rights.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t size_bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t usable = (size_bytes + page - 1) / page * page;
    mapped_bytes_ = usable + page;
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    auto* start = static_cast<std::byte*>(mapped_);
    mprotect(start + usable, page, PROT_NONE);
    data_ = start + usable - size_bytes;
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { munmap(mapped_, mapped_bytes_); }

  std::byte* data() const { return data_; }

 private:
  void* mapped_;
  size_t mapped_bytes_;
  std::byte* data_;
};

/// Values of type T right before the guard.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t n) : memory_(n * sizeof(T)), n_(n) {}
  explicit Guarded(const std::vector<T>& values) : Guarded(values.size()) {
    if (n_ > 0) std::memcpy(memory_.data(), values.data(), n_ * sizeof(T));
  }

  T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  std::vector<T> copy() const { return {data(), data() + n_}; }

 private:
  GuardedMemory memory_;
  size_t n_;
};

}  // namespace ferrox::testing
