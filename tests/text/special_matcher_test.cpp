// Are special tokens found leftmost first, longest there, and only where they may stand?
#include "text/special_matcher.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ferrox {
namespace {

using Trust = SpecialMatcher::Trust;

TEST(SpecialMatcher, PrefersTheLeftmostThenTheLongest) {
  SpecialMatcher matcher;
  matcher.add("ab", 1, Trust::kAnyText);
  matcher.add("abcd", 2, Trust::kAnyText);
  matcher.add("bcdef", 3, Trust::kAnyText);
  matcher.add("", 4, Trust::kAnyText);
  matcher.add("ab", 5, Trust::kAnyText);
  const auto anywhere = [](size_t) { return size_t{0}; };
  const auto first = matcher.find("xxabcdef", 0, anywhere);
  EXPECT_EQ(first.id, 2);
  EXPECT_EQ(first.start, 2U);
  EXPECT_EQ(first.length, 4U);
  EXPECT_EQ(matcher.find("xxabcdef", 3, anywhere).id, 3);
  EXPECT_EQ(matcher.find("abc", 0, anywhere).id, 1);
  EXPECT_EQ(matcher.find("xyz", 0, anywhere).id, -1);
  EXPECT_EQ(matcher.find("", 0, anywhere).id, -1);
}

TEST(SpecialMatcher, ControlTokensStandInTrustedTextOnly) {
  SpecialMatcher matcher;
  matcher.add("<end>", 1, Trust::kTrustedText);
  matcher.add("<", 2, Trust::kAnyText);
  const std::string text = "<end><end>";
  const auto trusted_to = [](size_t end) { return [end](size_t at) { return at < end ? end : 0; }; };
  EXPECT_EQ(matcher.find(text, 0, trusted_to(10)).id, 1);
  EXPECT_EQ(matcher.find(text, 5, trusted_to(10)).id, 1);
  EXPECT_EQ(matcher.find(text, 5, trusted_to(9)).id, 2);  // its last byte isn't trusted
  EXPECT_EQ(matcher.find(text, 0, trusted_to(0)).id, 2);
}

// The slow way: try every text at every position.
SpecialMatcher::Match find_naively(const std::vector<std::string>& specials, std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    SpecialMatcher::Match best;
    for (size_t id = 0; id < specials.size(); ++id) {
      if (!specials[id].empty() && text.substr(at).starts_with(specials[id]) && specials[id].size() > best.length) {
        best = {static_cast<int32_t>(id), at, specials[id].size()};
      }
    }
    if (best.id >= 0) return best;
  }
  return {};
}

TEST(SpecialMatcher, EqualsTheNaiveSearch) {
  std::mt19937 random(5);
  const auto random_string = [&random](size_t max) {
    std::string text(random() % (max + 1), 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int turn = 0; turn < 2000; ++turn) {
    SpecialMatcher matcher;
    std::vector<std::string> specials(random() % 6);
    for (size_t id = 0; id < specials.size(); ++id) {
      specials[id] = random_string(5);
      matcher.add(specials[id], static_cast<int32_t>(id), Trust::kAnyText);
    }
    const std::string text = random_string(20);
    const auto expected = find_naively(specials, text);
    const auto found = matcher.find(text, 0, [](size_t) { return size_t{0}; });
    EXPECT_EQ(found.id, expected.id) << text;
    EXPECT_EQ(found.start, expected.start) << text;
    EXPECT_EQ(found.length, expected.length) << text;
  }
}

}  // namespace
}  // namespace ferrox
