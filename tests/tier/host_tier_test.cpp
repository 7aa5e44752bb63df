// Is the host tier's budget kept to the byte, books included, and does the right entry go? Judged by a twin and the
// heap.
#include "tier/host_tier.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <bit>
#include <random>
#include <thread>
#include <vector>

#include "tier/hit_value.h"
#include "tier_rig.h"

namespace ferrox {
namespace {

using testing::TestEntry;

constexpr double kHalfLife_s = 100;

bool put(HostTier& tier, const TierLayout& layout, const TestEntry& entry, PartMask mask, double now_s) {
  if (!tier.reserve(entry.name(), mask)) return false;
  tier.commit(entry.name(), mask, testing::entry_of(layout, entry, mask), now_s);
  return true;
}

/// What one entry counts, found out from a tier that holds nothing else; tables have 16 places each at first.
uint64_t counted_bytes(const TierLayout& layout, const TestEntry& entry, PartMask mask) {
  HostTier tier(layout, 1 << 20, kHalfLife_s);
  put(tier, layout, entry, mask, 1);
  return tier.stats().bytes - 3 * 16 * sizeof(void*);
}

// M3: no bytes mean no bytes, of books and tables as well.
TEST(HostTier, NothingIsKeptInNoBytes) {
  const TierLayout layout = testing::small_layout();
  HostTier tier(layout, 0, kHalfLife_s);
  EXPECT_FALSE(tier.reserve(testing::page_after(testing::test_root(), 1).name(), 1));
  EXPECT_EQ(tier.stats().bytes, 0u);
  EXPECT_EQ(tier.stats().n_entries, 0u);
}

// M1: what an entry takes is known before it is made, and one that is larger than the budget never is.
TEST(HostTier, AnEntryFitsInItsBytesAndInNoByteLess) {
  const TierLayout layout = testing::small_layout();
  const TestEntry page = testing::page_after(testing::test_root(), 1);
  const uint64_t needed = counted_bytes(layout, page, 1) + 3 * 16 * sizeof(void*);
  HostTier exact(layout, needed, kHalfLife_s);
  EXPECT_TRUE(put(exact, layout, page, 1, 1));
  EXPECT_EQ(exact.stats().bytes, needed);
  HostTier short_by_one(layout, needed - 1, kHalfLife_s);
  EXPECT_FALSE(put(short_by_one, layout, page, 1, 1));
  EXPECT_EQ(short_by_one.stats().n_dropped, 1u);
  EXPECT_EQ(short_by_one.stats().bytes, 0u);
}

TEST(HostTier, WhatWasntMadeGivesItsBytesBack) {
  const TierLayout layout = testing::small_layout();
  HostTier tier(layout, 1 << 16, kHalfLife_s);
  const TestEntry page = testing::page_after(testing::test_root(), 1);
  ASSERT_TRUE(tier.reserve(page.name(), 1));
  EXPECT_GT(tier.stats().bytes, 0u);
  tier.commit(page.name(), 1, nullptr, 1);
  EXPECT_EQ(tier.stats().bytes, 0u);
  EXPECT_EQ(tier.parts_of(page.key), 0u);
}

TEST(HostTier, MorePartsReplaceFewer) {
  const TierLayout layout = testing::small_layout();
  HostTier tier(layout, 1 << 16, kHalfLife_s);
  const auto pages = testing::chain_of(testing::test_root(), 1, 2);
  ASSERT_TRUE(put(tier, layout, pages[0], 1, 1));
  ASSERT_TRUE(put(tier, layout, pages[1], 3, 1));
  EXPECT_FALSE(put(tier, layout, pages[0], 1, 2));
  EXPECT_FALSE(put(tier, layout, pages[0], 2, 2));
  EXPECT_TRUE(put(tier, layout, pages[0], 3, 2));
  EXPECT_EQ(tier.parts_of(pages[0].key), 3u);
  EXPECT_EQ(tier.stats().n_entries, 2u);
  tier.check_integrity();
}

TEST(HostTier, ATooLongPrefixKeepsItsBeginning) {
  const TierLayout layout = testing::small_layout();
  const auto pages = testing::chain_of(testing::test_root(), 1, 12);
  const uint64_t bytes = counted_bytes(layout, pages[0], 3);
  HostTier tier(layout, 3 * 16 * sizeof(void*) + 5 * bytes, kHalfLife_s);
  for (size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(put(tier, layout, pages[i], 3, 1), i < 5);
  for (size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(tier.parts_of(pages[i].key) != 0, i < 5);
  EXPECT_EQ(tier.stats().n_dropped, 7u);
}

// C12: a tier that is used for long stays within its budget, to the byte and with its books.
// Every entry's bytes, the order of going and the growth of tables are said again, in the plainest way.
TEST(HostTier, TwinUnderRandomOperations) {
  struct Twin {
    TestEntry entry;
    PartMask parts;
    uint64_t bytes;
    double worth_s;
    uint64_t order;
  };
  const TierLayout layout = testing::small_layout();
  std::minstd_rand random(5);
  std::vector<TestEntry> all;
  for (int i = 0; i < 80; ++i) {
    const PageKey parent = i < 20 ? testing::test_root() : all[random() % static_cast<size_t>(i)].key;
    all.push_back(random() % 4 == 0 ? testing::state_after(parent, {i}) : testing::page_after(parent, 10 * i));
    all.back().n_before = i < 20 ? 0 : 4;
  }
  const uint64_t budget = 14'000;
  HostTier tier(layout, budget, kHalfLife_s);
  std::vector<Twin> twin;
  size_t n_places = 0;  // of each table
  uint64_t order = 0;
  double now_s = 10;
  const auto find = [&twin](const PageKey& key) {
    return std::find_if(twin.begin(), twin.end(), [&key](const Twin& t) { return t.entry.key == key; });
  };
  const auto used = [&] {
    uint64_t sum = 3 * n_places * sizeof(void*);
    for (const Twin& t : twin) sum += t.bytes;
    return sum;
  };
  const auto wider = [&] { return std::bit_ceil(std::max<size_t>(16, twin.size() + 1)); };
  const auto growth = [&] { return wider() > n_places ? 3 * wider() * sizeof(void*) : 0; };
  const auto evict = [&](const TestEntry& for_entry) {
    if (for_entry.n_before > 0 && find(for_entry.parent) == twin.end()) return false;
    auto first = twin.end();
    for (auto i = twin.begin(); i != twin.end(); ++i) {
      bool is_leaf = !(i->entry.key == for_entry.parent);
      for (const Twin& other : twin) is_leaf = is_leaf && !(other.entry.parent == i->entry.key);
      if (is_leaf && (first == twin.end() || std::pair(i->worth_s, i->order) < std::pair(first->worth_s, first->order)))
        first = i;
    }
    if (first == twin.end()) return false;
    twin.erase(first);
    return true;
  };
  for (int step = 0; step < 20'000; ++step) {
    now_s += random() % 20;
    const TestEntry& entry = all[random() % all.size()];
    if (random() % 3 == 0) {
      tier.use(entry.key, now_s);
      if (const auto t = find(entry.key); t != twin.end()) t->worth_s = used_once_more(t->worth_s, now_s, kHalfLife_s);
      continue;
    }
    const PartMask mask = 1 + random() % 7;
    const uint64_t bytes = counted_bytes(layout, entry, mask);
    bool stored = false;
    const auto same = find(entry.key);
    if (same == twin.end() || std::popcount(mask) > std::popcount(same->parts)) {
      if (same != twin.end()) twin.erase(same);
      bool has_room = true;
      while (has_room && used() + growth() + bytes > budget) has_room = evict(entry);
      if (has_room) {
        n_places = std::max(n_places, wider());
        twin.push_back({entry, mask, bytes, now_s, order++});
        stored = true;
      }
    }
    ASSERT_EQ(put(tier, layout, entry, mask, now_s), stored) << step;
    ASSERT_EQ(tier.stats().bytes, used()) << step;
    ASSERT_LE(tier.stats().bytes, budget);
    for (const TestEntry& each : all) {
      const auto t = find(each.key);
      ASSERT_EQ(tier.parts_of(each.key), t == twin.end() ? 0 : t->parts) << step;
    }
    if (step % 100 == 0) tier.check_integrity();
  }
  EXPECT_GT(tier.stats().n_evicted, 1'000u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// C12, M1: nor does the heap, at its peak, see more than was counted.
// What the heap gave out, its own headers included, at every moment of a tier that is filled four times over.
TEST(HostTier, TheHeapGivesNoMoreThanIsCounted) {
  const auto heap_bytes = [] {
    const auto info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  for (const uint64_t part_bytes : {uint64_t{200}, uint64_t{5'000}, uint64_t{70'000}, uint64_t{300'000}}) {
    const TierLayout layout{.model = {}, .page_rows = 4, .part_bytes = {part_bytes}};
    const uint64_t budget = 200 * part_bytes;
    const auto pages = testing::chain_of(testing::test_root(), 1, 1);
    testing::Parts parts(layout, 1, pages[0].key);
    const auto sources = parts.sources();
    HostTier tier(layout, budget, kHalfLife_s);
    const size_t before = heap_bytes();
    size_t most = 0;
    for (int i = 0; i < 800; ++i) {
      const TestEntry page = testing::page_after(testing::test_root(), i);
      if (!tier.reserve(page.name(), 1)) continue;
      tier.commit(page.name(), 1, std::make_shared<const TierEntry>(layout, page.name(), sources), i);
      most = std::max(most, heap_bytes() - before);
    }
    EXPECT_LE(most, budget + 200);  // the page that the loop holds
    EXPECT_GT(most, budget / 2);
    EXPECT_GT(tier.stats().n_evicted, 500u);
  }
}
#endif

}  // namespace
}  // namespace ferrox
