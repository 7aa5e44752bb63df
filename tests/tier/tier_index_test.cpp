// Does the least valuable leaf go first, and is every family known? Judged by a list that is searched from end to end.
#include "tier/tier_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "tier/hit_value.h"
#include "tier_rig.h"

namespace ferrox {
namespace {

using testing::TestEntry;

/// An index with the entries that it is about.
class Books {
 public:
  explicit Books(double half_life_s) : index(half_life_s) {}
  ~Books() {
    while (IndexEntry* const leaf = index.least_valuable()) index.erase(*leaf);
  }

  void insert(const TestEntry& entry, double now_s) {
    auto& made = *entries.emplace_back(std::make_unique<IndexEntry>());
    made.name = {.kind = entry.kind,
                 .key = entry.key,
                 .parent = entry.parent,
                 .parts = 1,
                 .n_tokens = static_cast<uint32_t>(entry.tokens.size())};
    made.worth_s = now_s;
    index.insert(made);
  }
  void use(const PageKey& key, double now_s) { index.use(*index.find(key), now_s); }
  void erase(const PageKey& key) { index.erase(*index.find(key)); }
  PageKey first_to_go() { return index.least_valuable()->name.key; }

  std::vector<std::unique_ptr<IndexEntry>> entries;  // before the index, which is emptied first
  TierIndex index;
};

TEST(HitValue, IsTheSumOfDecayedHits) {
  std::minstd_rand random(1);
  for (int round = 0; round < 200; ++round) {
    const double half_life_s = 1 + random() % 1'000;
    const double start_s = 1.7e9;
    double now_s = start_s;
    double worth_s = now_s;
    std::vector<double> hits{now_s};
    for (int i = 0; i < 30; ++i) {
      now_s += random() % 200;
      hits.push_back(now_s);
      worth_s = used_once_more(worth_s, now_s, half_life_s);
      double sum = 0;
      for (const double hit_s : hits) sum += std::exp2((hit_s - now_s) / half_life_s);
      // Times near 1.7e9 are kept to 2.4e-7 s; thirty of them are added up.
      EXPECT_NEAR(std::log2(sum), (worth_s - now_s) / half_life_s, 30 * 2.4e-7 / half_life_s + 1e-9);
    }
  }
}

TEST(TierIndex, OftenUsedStaysLongerThanLateUsed) {
  Books books(100);
  const auto often = testing::page_after(testing::test_root(), 1);
  const auto late = testing::page_after(testing::test_root(), 2);
  books.insert(often, 1'000);
  for (int i = 0; i < 7; ++i) books.use(often.key, 1'000);  // eight uses: worth three half-lives
  books.insert(late, 1'299);
  EXPECT_EQ(books.first_to_go(), late.key);
  books.use(late.key, 1'299);  // two uses at 1299: worth one at 1399
  EXPECT_EQ(books.first_to_go(), often.key);
}

TEST(TierIndex, OfTheSameWorthTheOlderGoesFirst) {
  Books books(100);
  const auto a = testing::page_after(testing::test_root(), 1);
  const auto b = testing::page_after(testing::test_root(), 2);
  books.insert(b, 5);
  books.insert(a, 5);
  EXPECT_EQ(books.first_to_go(), b.key);
}

TEST(TierIndex, APageStaysWhileSomethingContinuesIt) {
  Books books(100);
  const auto pages = testing::chain_of(testing::test_root(), 1, 3);
  const auto state = testing::state_after(pages[0].key, {5});
  books.insert(pages[2], 3);  // in no order: a scanned folder has none
  books.insert(pages[0], 1);
  books.insert(state, 9);
  books.insert(pages[1], 2);
  EXPECT_EQ(books.first_to_go(), pages[2].key);
  const auto fourth = testing::page_after(pages[2].key, 9);
  EXPECT_EQ(books.index.least_valuable_for(fourth.name())->name.key, state.key);
  books.erase(pages[2].key);
  EXPECT_EQ(books.first_to_go(), pages[1].key);
  books.erase(pages[1].key);
  EXPECT_EQ(books.first_to_go(), state.key);
  books.erase(state.key);
  EXPECT_EQ(books.first_to_go(), pages[0].key);
  books.index.check_integrity();
}

TEST(TierIndex, ALostParentLeavesOrphansThatItFindsAgain) {
  Books books(100);
  const auto pages = testing::chain_of(testing::test_root(), 1, 3);
  for (const auto& page : pages) books.insert(page, 1);
  books.erase(pages[1].key);
  books.index.check_integrity();
  EXPECT_EQ(books.first_to_go(), pages[0].key);
  books.insert(pages[1], 1);
  books.index.check_integrity();
  EXPECT_EQ(books.first_to_go(), pages[2].key);
}

// Names of files say who continues whom: in a circle nobody would ever be a leaf.
TEST(TierIndex, CirclesAreOpenedSoThatEveryEntryCanGo) {
  std::minstd_rand random(8);
  for (int round = 0; round < 300; ++round) {
    Books books(100);
    std::vector<TestEntry> all = testing::chain_of(testing::test_root(), 1, 2 + static_cast<int>(random() % 7));
    for (TestEntry& entry : all) {
      if (random() % 3 == 0) entry.parent = all[random() % all.size()].key;  // its own as well
    }
    all.front().parent = all.back().key;
    std::shuffle(all.begin(), all.end(), random);
    for (const TestEntry& entry : all) {
      books.insert(entry, 1);
      books.index.check_integrity();
      if (random() % 4 == 0) {
        books.erase(entry.key);
        books.insert(entry, 1);
      }
    }
    for (size_t n = all.size(); n > 0; --n) {
      ASSERT_EQ(books.index.n_entries(), n);
      ASSERT_NE(books.index.least_valuable(), nullptr);
      books.erase(books.first_to_go());
      books.index.check_integrity();
    }
  }
}

// Entries of a random forest come, are used and go; the twin is a map that is walked for each question.
TEST(TierIndex, TwinOfAListUnderRandomOperations) {
  struct Twin {
    PageKey parent;
    double worth_s;
    uint64_t order;
  };
  struct Less {
    bool operator()(const PageKey& a, const PageKey& b) const { return a.bytes < b.bytes; }
  };
  std::minstd_rand random(3);
  Books books(50);
  std::map<PageKey, Twin, Less> twin;
  std::vector<TestEntry> all;
  for (int i = 0; i < 60; ++i) {
    const PageKey parent = i < 6 ? testing::test_root(std::to_string(i)) : all[random() % static_cast<size_t>(i)].key;
    all.push_back(random() % 4 == 0 ? testing::state_after(parent, {i}) : testing::page_after(parent, 10 * i));
  }
  uint64_t order = 0;
  double now_s = 100;
  for (int step = 0; step < 20'000; ++step) {
    now_s += random() % 3;
    const TestEntry& entry = all[random() % all.size()];
    const auto held = twin.find(entry.key);
    if (held == twin.end()) {
      books.insert(entry, now_s);
      twin[entry.key] = {entry.parent, now_s, order++};
    } else if (random() % 2 == 0) {
      books.use(entry.key, now_s);
      held->second.worth_s = used_once_more(held->second.worth_s, now_s, 50);
    } else {
      books.erase(entry.key);
      twin.erase(held);
    }
    const std::pair<const PageKey, Twin>* first = nullptr;
    for (const auto& candidate : twin) {
      bool is_leaf = true;
      for (const auto& [key, other] : twin) is_leaf = is_leaf && !(other.parent == candidate.first);
      if (!is_leaf) continue;
      const auto rank = [](const Twin& t) { return std::pair(t.worth_s, t.order); };
      if (first == nullptr || rank(candidate.second) < rank(first->second)) first = &candidate;
    }
    ASSERT_EQ(books.index.n_entries(), twin.size());
    if (first != nullptr) {
      ASSERT_EQ(books.first_to_go(), first->first) << step;
    }
    if (step % 50 == 0) books.index.check_integrity();
  }
}

TEST(TierIndex, TheLongestStateOfAPromptIsFound) {
  std::minstd_rand random(4);
  const PageKey root = testing::test_root();
  for (int round = 0; round < 300; ++round) {
    std::vector<int32_t> tokens(random() % 20);
    for (int32_t& token : tokens) token = static_cast<int32_t>(random() % 3);
    std::vector<PageKey> keys{root};
    while (keys.size() <= tokens.size() / 4) {
      keys.push_back(next_key(keys.back(), std::span(tokens).subspan(4 * (keys.size() - 1), 4)));
    }
    Books books(50);
    const auto max_tokens = static_cast<int64_t>(random() % 22);
    int64_t longest = -1;
    for (int64_t n = 0; n <= static_cast<int64_t>(tokens.size()); ++n) {  // states of this prompt, and of others
      const size_t page = static_cast<size_t>(n) / 4;
      std::vector<int32_t> rest(tokens.begin() + static_cast<ptrdiff_t>(4 * page), tokens.begin() + n);
      if (random() % 3 != 0) continue;
      if (random() % 2 == 0 && !rest.empty()) {
        rest.back() += 3;
      } else if (n <= max_tokens) {
        longest = n;
      }
      const TestEntry state = testing::state_after(keys[page], rest);
      if (books.index.find(state.key) == nullptr) books.insert(state, 1);
    }
    const auto match = books.index.longest_state(keys, tokens, 4, max_tokens);
    ASSERT_EQ(match.has_value(), longest >= 0);
    if (match) {
      ASSERT_EQ(match->n_tokens, longest);
    }
  }
}

}  // namespace
}  // namespace ferrox
