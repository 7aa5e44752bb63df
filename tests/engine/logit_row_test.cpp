// Is the highest logit of a row found, and are rows that can't be sampled?
#include "engine/logit_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "engine/block_max.h"

namespace ferrox {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Rows of every length around one and two blocks.
template <class Body>
void with_rows(const Body& body) {
  std::mt19937 random(1);
  for (size_t n = 1; n < 2 * kScanBlock + 40; ++n) {
    std::vector<float> row(n);
    for (float& logit : row) logit = static_cast<float>(random() % 50) - 60.0f;
    body(row, random);
  }
}

TEST(LogitRow, TheFirstOfTheHighestIsFound) {
  with_rows([](std::vector<float>& row, std::mt19937& random) {
    EXPECT_EQ(argmax(row), std::ranges::max_element(row) - row.begin());
    row[random() % row.size()] = -kInfinity;
    EXPECT_EQ(argmax(row), std::ranges::max_element(row) - row.begin());
    std::ranges::fill(row, -kInfinity);
    EXPECT_EQ(argmax(row), 0);
  });
}

TEST(LogitRow, EveryPlaceOfABlockCounts) {
  with_rows([](std::vector<float>& row, std::mt19937& random) {
    const size_t at = random() % row.size();
    row[at] = 1.0f;
    EXPECT_EQ(block_max(row.data(), row.size()), 1.0f) << at << " of " << row.size();
  });
  EXPECT_EQ(block_max(nullptr, 0), -kInfinity);
}

TEST(LogitRow, ANumberThatIsNotFiniteMakesARowUseless) {
  with_rows([](std::vector<float>& row, std::mt19937& random) {
    EXPECT_TRUE(has_usable_logits(row));
    const size_t at = random() % row.size();
    const float was = row[at];
    for (const float bad : {kNan, kInfinity}) {
      row[at] = bad;
      EXPECT_FALSE(has_usable_logits(row));
    }
    row[at] = row.size() > 1 ? -kInfinity : was;
    EXPECT_TRUE(has_usable_logits(row));
    std::ranges::fill(row, -kInfinity);
    EXPECT_FALSE(has_usable_logits(row));
  });
}

}  // namespace
}  // namespace ferrox
