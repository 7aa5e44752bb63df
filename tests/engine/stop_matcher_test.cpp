// Does text leave exactly when no stop string can begin in it any more?
#include "engine/stop_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ferrox {
namespace {

/// What leaves at each push, in order; then what is held back.
struct Trace {
  std::vector<std::string> released;
  size_t n_held = 0;
  std::optional<std::string> matched;
};

Trace feed(std::vector<std::string> stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(std::move(stops));
  Trace trace;
  for (const std::string& piece : pieces) trace.released.push_back(matcher.push(piece));
  trace.n_held = matcher.held_bytes();
  trace.matched = matcher.matched();
  return trace;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += piece;
  return out;
}

TEST(StopMatcher, TextBeforeTheMatchLeaves) {
  const Trace trace = feed({"abc"}, {"a", "b", "a", "b", "c"});
  EXPECT_EQ(joined(trace.released), "ab");
  EXPECT_EQ(trace.matched, "abc");
}

TEST(StopMatcher, ADisprovedSuffixLeavesInOnePiece) {
  EXPECT_EQ(feed({"abc"}, {"a", "b", "d"}).released, (std::vector<std::string>{"", "", "abd"}));
}

TEST(StopMatcher, HoldsTheLongestSuffixThatCouldBegin) {
  EXPECT_EQ(feed({"abc"}, {"xxab"}).n_held, 2u);
  EXPECT_EQ(feed({"abq", "abcd"}, {"xabc"}).n_held, 3u);
}

TEST(StopMatcher, WithoutStopsNothingIsHeld) {
  EXPECT_EQ(feed({}, {"abc", ""}).released, (std::vector<std::string>{"abc", ""}));
}

TEST(StopMatcher, OfTwoThatCompleteTogetherTheEarlierStartWins) {
  const Trace trace = feed({"c", "abc", "bc"}, {"xabc"});
  EXPECT_EQ(trace.matched, "abc");
  EXPECT_EQ(joined(trace.released), "x");
}

TEST(StopMatcher, TheOneThatCompletesFirstWins) {
  EXPECT_EQ(feed({"abcd", "bc"}, {"abcd"}).matched, "bc");
  EXPECT_EQ(joined(feed({"abcd", "bc"}, {"abcd"}).released), "a");
}

TEST(StopMatcher, FlushGivesWhatWasHeld) {
  StopMatcher matcher({"abc"});
  EXPECT_EQ(matcher.push("xab"), "x");
  EXPECT_EQ(matcher.flush(), "ab");
  EXPECT_EQ(matcher.flush(), "");
}

TEST(StopMatcher, AfterAMatchEverythingIsSwallowed) {
  StopMatcher matcher({"b"});
  EXPECT_EQ(matcher.push("abc"), "a");
  EXPECT_EQ(matcher.push("def"), "");
  EXPECT_EQ(matcher.flush(), "");
}

/// The slow twin: looks at the whole text after every byte.
Trace feed_naively(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  Trace trace;
  std::string text;
  size_t n_released = 0;
  for (const std::string& piece : pieces) {
    trace.released.emplace_back();
    for (const char byte : piece) {
      if (trace.matched) break;
      text += byte;
      for (const std::string& stop : stops) {
        const bool longer = !trace.matched || stop.size() > trace.matched->size();
        if (text.ends_with(stop) && longer) trace.matched = stop;
      }
    }
    size_t n_held = 0;
    for (const std::string& stop : stops) {
      for (size_t n = 1; n < stop.size(); ++n) {
        if (text.ends_with(stop.substr(0, n))) n_held = std::max(n_held, n);
      }
    }
    const size_t end = text.size() - (trace.matched ? trace.matched->size() : n_held);
    if (end > n_released) trace.released.back() = text.substr(n_released, end - n_released);
    n_released = std::max(n_released, end);
    trace.n_held = trace.matched ? 0 : n_held;
  }
  return trace;
}

TEST(StopMatcher, AgreesWithTheNaiveTwinHoweverTheTextIsCut) {
  std::mt19937 random(7);
  const auto random_text = [&](size_t max_size) {
    std::string text(random() % (max_size + 1), ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> stops(random() % 4);
    for (std::string& stop : stops) stop = "a" + random_text(6);
    std::vector<std::string> pieces(random() % 12);
    for (std::string& piece : pieces) piece = random_text(4);
    const Trace got = feed(stops, pieces);
    const Trace want = feed_naively(stops, pieces);
    ASSERT_EQ(got.released, want.released) << "round " << round;
    ASSERT_EQ(got.matched, want.matched) << "round " << round;
    ASSERT_EQ(got.n_held, want.n_held) << "round " << round;
  }
}

}  // namespace
}  // namespace ferrox
