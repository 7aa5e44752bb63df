// Does a profile's tree grow as scopes nest, with work and waiting where they belong?
#include "base/profile.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/thread_pool.h"

namespace ferrox {
namespace {

const ProfileNode* find(const ProfileNode& node, std::string_view name) {
  for (const ProfileNode& child : node.children) {
    if (child.name == name) return &child;
  }
  return nullptr;
}

TEST(Profile, ScopesOfOneNameAndPlaceAreOneNode) {
  Profile profile;
  for (int i = 0; i < 3; ++i) {
    const ProfileScope outer(&profile, "outer");
    add_work(&profile, {.bytes = 1, .int8_operations = 2});
    for (int j = 0; j < 2; ++j) {
      const ProfileScope inner(&profile, "inner");
      add_work(&profile, {.f32_operations = 5});
    }
  }
  { const ProfileScope other(&profile, "inner"); }
  const ProfileNode* outer = find(profile.root(), "outer");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->n_calls, 3);
  const ProfileNode* inner = find(*outer, "inner");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->n_calls, 6);
  EXPECT_GE(outer->time_ns, inner->time_ns);
  EXPECT_EQ(outer->work.bytes, 3);
  EXPECT_EQ(total_work(*outer).f32_operations, 30);
  EXPECT_EQ(total_work(*outer).int8_operations, 6);
  EXPECT_EQ(find(profile.root(), "inner")->n_calls, 1);
}

TEST(Profile, WithoutOneNothingHappens) {
  const ProfileScope scope(nullptr, "x");
  add_work(nullptr, {.bytes = 1});
}

/// One thread works while the other, which is in the same call, has nothing left: half of the time is waiting.
TEST(Profile, APoolChargesWhatItsThreadsWait) {
  ThreadPool pool(2);
  Profile profile;
  pool.set_profile(&profile);
  std::atomic<int> arrived{0};
  {
    const ProfileScope scope(&profile, "uneven");
    pool.run(2, [&](int64_t chunk, int) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) {
      }
      const auto started = Profile::Clock::now();
      while (chunk == 1 && Profile::Clock::now() - started < std::chrono::milliseconds(20)) {
      }
    });
  }
  {
    const ProfileScope scope(&profile, "single");
    pool.run(1, [&](int64_t, int) {
      const auto started = Profile::Clock::now();
      while (Profile::Clock::now() - started < std::chrono::milliseconds(4)) {
      }
    });
  }
  pool.set_profile(nullptr);
  const ProfileNode* uneven = find(profile.root(), "uneven");
  EXPECT_GT(uneven->waiting_ns, 0);  // half of the time, less what the machine took from either thread
  EXPECT_LE(uneven->waiting_ns, uneven->time_ns);
  EXPECT_GE(find(profile.root(), "single")->waiting_ns, 2'000'000);
  pool.run(2, [](int64_t, int) {});
  EXPECT_EQ(profile.root().children.size(), 2u);
}

}  // namespace
}  // namespace ferrox
