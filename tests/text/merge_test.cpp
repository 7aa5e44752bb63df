// Does the queue merge exactly what the obvious loop over all neighbours would?
#include "text/merge.h"

#include <gtest/gtest.h>

#include <random>

namespace ferrox {
namespace {

struct Part {
  int32_t id;
  uint32_t length;
  bool operator==(const Part&) const = default;
};

// The slow way: look at every pair of neighbours, join the best, start again.
std::vector<Part> merge_naively(std::vector<Part> parts, const PairMap& pairs) {
  while (true) {
    size_t best = 0;
    PairMap::Value best_value;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto value = pairs.find(static_cast<uint32_t>(parts[i].id), static_cast<uint32_t>(parts[i + 1].id));
      if (value.rank < best_value.rank) {
        best = i;
        best_value = value;
      }
    }
    if (best_value.rank == PairMap::kNone) return parts;
    parts[best] = {best_value.id, parts[best].length + parts[best + 1].length};
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

std::vector<Part> merge_by_queue(const std::vector<Part>& parts, const PairMap& pairs, MergeList& list) {
  list.clear();
  uint32_t start = 0;
  for (const Part& part : parts) {
    list.push_back(start, part.length, part.id);
    start += part.length;
  }
  list.merge([&](const MergeSymbol& left, const MergeSymbol& right) {
    return pairs.find(static_cast<uint32_t>(left.id), static_cast<uint32_t>(right.id));
  });
  std::vector<Part> merged;
  list.for_each([&](const MergeSymbol& symbol) { merged.push_back({symbol.id, symbol.length}); });
  return merged;
}

TEST(Merge, EqualsTheNaiveLoop) {
  std::mt19937 random(3);
  MergeList list;
  for (int turn = 0; turn < 2000; ++turn) {
    const uint32_t n_letters = 1 + random() % 4;
    const uint32_t n_rules = random() % 30;
    PairMap pairs(n_rules);
    for (uint32_t rule = 0; rule < n_rules; ++rule) {  // also loops, shared outcomes and equal ranks
      const uint32_t known = n_letters + rule;
      const auto outcome = static_cast<int32_t>(random() % 3 == 0 ? random() % known : known);
      pairs.insert(random() % known, random() % known, {static_cast<uint32_t>(random() % 10), outcome});
    }
    std::vector<Part> parts(random() % 60);
    for (Part& part : parts)
      part = {static_cast<int32_t>(random() % n_letters), static_cast<uint32_t>(1 + random() % 3)};
    EXPECT_EQ(merge_by_queue(parts, pairs, list), merge_naively(parts, pairs)) << "turn " << turn;
  }
}

TEST(Merge, TakesTheLeftmostOfEquals) {
  PairMap pairs(1);
  pairs.insert(0, 0, {5, 1});
  MergeList list;
  const std::vector<Part> merged = merge_by_queue({{0, 1}, {0, 1}, {0, 1}}, pairs, list);
  EXPECT_EQ(merged, (std::vector<Part>{{1, 2}, {0, 1}}));
}

TEST(PairMap, KeepsTheFirstValueAndFindsNothingElse) {
  std::mt19937 random(4);
  PairMap pairs(1000);
  std::vector<std::pair<uint32_t, uint32_t>> keys;
  for (uint32_t i = 0; i < 1000; ++i) {
    keys.emplace_back(random() % 64, random() % 64);
    if (pairs.find(keys[i].first, keys[i].second).rank == PairMap::kNone) {
      pairs.insert(keys[i].first, keys[i].second, {i, static_cast<int32_t>(i)});
    } else {
      const auto before = pairs.find(keys[i].first, keys[i].second);
      pairs.insert(keys[i].first, keys[i].second, {i, static_cast<int32_t>(i)});
      EXPECT_EQ(pairs.find(keys[i].first, keys[i].second).rank, before.rank);
    }
  }
  EXPECT_EQ(pairs.find(64, 0).rank, PairMap::kNone);
  EXPECT_EQ(PairMap().find(1, 2).rank, PairMap::kNone);
}

}  // namespace
}  // namespace ferrox
