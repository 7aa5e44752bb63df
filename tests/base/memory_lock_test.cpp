// Are locked pages counted as locked by the system, and is a refusal an error that names the limit?
#include "base/memory_lock.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/file_map.h"
#include "support/locked_memory.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

TEST(MemoryLock, PagesAreLockedUntilTheyAreUnmapped) {
  if (!testing::kLocksMemory) GTEST_SKIP() << "this build locks nothing";
  const testing::TempFolder folder;
  constexpr size_t kBytes = 40'000;
  std::ofstream(folder / "a") << std::string(kBytes, 'x');
  const uint64_t before = testing::locked_kib();
  {
    const auto map = FileMap::open(folder / "a");
    ASSERT_TRUE(map);
    const auto locked = lock_in_memory(map->bytes());
    if (!locked) GTEST_SKIP() << locked.error().message;
    EXPECT_GE(testing::locked_kib(), before + kBytes / 1024);
  }
  EXPECT_EQ(testing::locked_kib(), before);
  EXPECT_TRUE(lock_in_memory({}));
}

/// As somebody without privileges, whose limit is one page.
void lock_beyond_the_limit() {
  const rlimit limit{4096, 4096};
  setrlimit(RLIMIT_MEMLOCK, &limit);
  if (geteuid() == 0 && seteuid(65534) != 0) std::_Exit(2);
  const std::vector<std::byte> bytes(1 << 20);
  const auto locked = lock_in_memory(bytes);
  const bool is_refused = !locked && locked.error().message.find("(ulimit -l) is 4.00 KiB") != std::string::npos;
  std::_Exit(is_refused ? 0 : 1);
}

TEST(MemoryLock, ARefusalNamesTheLimit) {
  if (!testing::kLocksMemory) GTEST_SKIP() << "this build locks nothing";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lock_beyond_the_limit(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ferrox
