// Which table does a process get: the best one, or the one that FERROX_ISA forces, and is that table really used?
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "kernels/dispatch.h"
#include "kernels/supported_isas.h"

namespace ferrox {
namespace {

/// Ends the process: 0 when active_kernels() is the table `name`.
[[noreturn]] void exit_by_active_name(const char* forced, const std::string& name) {
  if (forced == nullptr) {
    unsetenv("FERROX_ISA");
  } else {
    setenv("FERROX_ISA", forced, 1);
  }
  const auto table = active_kernels();
  if (!table) {
    std::fprintf(stderr, "%s\n", table.error().message.c_str());
    std::_Exit(2);
  }
  std::_Exit((*table)->name == name && *table == find_isa(name) ? 0 : 1);
}

/// The choice is made once a process, so each is made in a process of its own.
class DispatchTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(DispatchTest, EverySupportedTableCanBeForced) {
  for (const KernelTable* table : testing::supported_isas()) {
    EXPECT_EXIT(exit_by_active_name(table->name, table->name), ::testing::ExitedWithCode(0), "") << table->name;
  }
}

TEST_F(DispatchTest, TheHighestSupportedRankIsTheDefault) {
  const KernelTable* best = find_isa("portable");
  for (const KernelTable* table : testing::supported_isas()) {
    if (table->rank > best->rank) best = table;
  }
  EXPECT_EXIT(exit_by_active_name(nullptr, best->name), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit_by_active_name("", best->name), ::testing::ExitedWithCode(0), "");
}

TEST_F(DispatchTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_EXIT(exit_by_active_name("mmx", ""), ::testing::ExitedWithCode(2), "expected one of .*portable.*found 'mmx'");
}

TEST_F(DispatchTest, ATableThatTheCpuLacksIsRefused) {
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa) {
    if ((*isa)->supported()) continue;
    EXPECT_EXIT(exit_by_active_name((*isa)->name, ""), ::testing::ExitedWithCode(2), "lacks what");
  }
}

/// The canary: a table's functions are its own, so the one that was chosen is the one that runs.
TEST(Dispatch, NoTwoTablesShareAFunction) {
  std::set<std::string> names;
  std::set<int> ranks;
  std::set<const void*> functions;
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa) {
    const KernelTable& t = **isa;
    SCOPED_TRACE(t.name);
    EXPECT_TRUE(names.insert(t.name).second);
    EXPECT_TRUE(ranks.insert(t.rank).second);
    EXPECT_EQ(find_isa(t.name), &t);
    const auto expect_own = [&](auto* function) {
      ASSERT_NE(function, nullptr);
      EXPECT_TRUE(functions.insert(reinterpret_cast<const void*>(function)).second);
    };
    expect_own(t.quantize);
    expect_own(t.attend);
    expect_own(t.rms_norm);
    expect_own(t.softmax);
    for (const FormatKernels* format = t.formats; format->product != nullptr; ++format) expect_own(format->product);
  }
  EXPECT_EQ(find_isa("mmx"), nullptr);
}

}  // namespace
}  // namespace ferrox
