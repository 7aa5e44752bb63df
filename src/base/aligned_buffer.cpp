#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <new>

namespace ferrox {
namespace {

constexpr std::align_val_t kAlignment{64};
/// Smaller pieces come from the heap, which knows neighbours from each other where a sanitizer watches.
constexpr uint64_t kLargeBytes = uint64_t{64} << 20;

}  // namespace

AlignedMemory::AlignedMemory(uint64_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes < kLargeBytes) {
    data_ = ::operator new[](size_bytes, kAlignment);
    return;
  }
  void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = memory;
}

AlignedMemory::~AlignedMemory() {
  if (size_bytes_ < kLargeBytes) {
    ::operator delete[](data_, kAlignment);
  } else {
    munmap(data_, size_bytes_);
  }
}

}  // namespace ferrox
