// Does the machine say something sane about itself, and does the log take only levels that exist?
#include "base/machine.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "base/log.h"
#include "base/version.h"

namespace ferrox {
namespace {

TEST(Machine, ThreadsAreWithinTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(available_threads(), 1);
  EXPECT_LE(available_threads(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_threads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Machine, SomeMemoryIsAvailable) { EXPECT_GT(available_memory_bytes(), uint64_t{1} << 20); }

TEST(Log, LevelsAreNamed) {
  for (const char* level : {"trace", "debug", "info", "warn", "error", "off"}) EXPECT_TRUE(set_log_level(level));
  const auto wrong = set_log_level("loud");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(wrong.error().message.find("found 'loud'"), std::string::npos);
  EXPECT_TRUE(set_log_level("info"));
}

TEST(Version, IsThreeNumbers) {
  int major = -1;
  int minor = -1;
  int patch = -1;
  EXPECT_EQ(sscanf(kVersion, "%d.%d.%d", &major, &minor, &patch), 3);
}

}  // namespace
}  // namespace ferrox
