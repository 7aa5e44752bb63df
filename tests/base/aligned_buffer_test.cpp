// Is the memory of numbers aligned, its own, and there only when it is touched?
#include "base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

namespace ferrox {
namespace {

TEST(AlignedBuffer, IsAlignedAndMovesWithItsContents) {
  for (const int64_t n : {1, 1000, 20 << 20}) {
    AlignedBuffer<float> buffer(n);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u) << n;
    EXPECT_EQ(buffer.size(), n);
    EXPECT_EQ(buffer.size_bytes(), static_cast<uint64_t>(n) * 4);
    buffer.data()[0] = 1.0f;
    buffer.data()[n - 1] = 2.0f;
    const AlignedBuffer<float> moved = std::move(buffer);
    EXPECT_EQ(moved.data()[n - 1], 2.0f);
  }
  EXPECT_EQ(AlignedBuffer<float>().size(), 0);
}

TEST(AlignedBuffer, MoreThanTheMachineHasCanBeNamed) {
  try {
    const AlignedBuffer<float> buffer(int64_t{1} << 38);
    EXPECT_EQ(buffer.size_bytes(), uint64_t{1} << 40);
  } catch (const std::bad_alloc&) {
    GTEST_SKIP() << "this system promises no more memory than it has";
  }
}

}  // namespace
}  // namespace ferrox
