// Does a mistyped name find the one that was meant, and only then?
#include "cli/nearest_name.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ferrox {
namespace {

// The definition, without a table: the judge of the quick one.
int slow_distance(std::string_view a, std::string_view b) {
  if (a.empty()) return static_cast<int>(b.size());
  if (b.empty()) return static_cast<int>(a.size());
  const auto rest_a = a.substr(1), rest_b = b.substr(1);
  int best = std::min(slow_distance(rest_a, b), slow_distance(a, rest_b)) + 1;
  best = std::min(best, slow_distance(rest_a, rest_b) + (a[0] == b[0] ? 0 : 1));
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, slow_distance(a.substr(2), b.substr(2)) + 1);
  }
  return best;
}

TEST(NearestName, DistanceEqualsItsDefinition) {
  std::mt19937 random(1);
  const auto word = [&] {
    std::string text(random() % 6, 'a');
    for (char& letter : text) letter = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 300; ++i) {
    const std::string a = word(), b = word();
    EXPECT_EQ(edit_distance(a, b), slow_distance(a, b)) << a << " " << b;
  }
}

TEST(NearestName, FindsFlagsThroughTypicalMistakes) {
  const std::vector<std::string> flags = {"--temp", "--top-k", "--top-p", "--threads", "--model", "-m"};
  EXPECT_EQ(nearest_name("--tepm", flags), "--temp");
  EXPECT_EQ(nearest_name("--tmp", flags), "--temp");
  EXPECT_EQ(nearest_name("--topk", flags), "--top-k");
  EXPECT_EQ(nearest_name("-model", flags), "--model");
  EXPECT_EQ(nearest_name("--thread", flags), "--threads");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  const std::vector<std::string> flags = {"--temp", "--top-k", "-m"};
  EXPECT_EQ(nearest_name("--frobnicate", flags), std::nullopt);
  EXPECT_EQ(nearest_name("-x", flags), std::nullopt);
  EXPECT_EQ(nearest_name("", flags), std::nullopt);
  EXPECT_EQ(nearest_name("--temp", std::vector<std::string>{}), std::nullopt);
}

}  // namespace
}  // namespace ferrox
