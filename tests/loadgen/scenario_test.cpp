// Are scenarios shaped as they say, and the same from the same seed?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loadgen/scenario.h"

namespace ferrox {
namespace {

constexpr ScenarioKind kAllKinds[] = {ScenarioKind::kDistinct, ScenarioKind::kSharedPrefix, ScenarioKind::kMultiTurn,
                                      ScenarioKind::kMixed, ScenarioKind::kCancelHeavy};

ScenarioOptions options_of(ScenarioKind kind) {
  ScenarioOptions options;
  options.kind = kind;
  options.n_requests = 50;
  options.prompt_words = {10, 20};
  options.prefix_words = 100;
  options.long_words = {200, 300};
  options.long_share = 0.3;
  options.cancel_share = 0.6;
  options.n_turns = 4;
  options.output_tokens = 16;
  options.seed = 5;
  return options;
}

size_t n_words(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), ' ')) + 1; }

std::vector<Turn> all_turns(const Scenario& scenario) {
  std::vector<Turn> turns;
  for (size_t i = 0; i < scenario.n_conversations(); ++i) {
    EXPECT_EQ(scenario.first_request(i), turns.size());
    const Conversation conversation = scenario.conversation(i);
    EXPECT_EQ(conversation.size(), scenario.n_turns(i));
    turns.insert(turns.end(), conversation.begin(), conversation.end());
  }
  return turns;
}

TEST(Scenario, TheSameSeedGivesTheSameAndAnotherOneOthers) {
  for (const ScenarioKind kind : kAllKinds) {
    ScenarioOptions options = options_of(kind);
    const auto once = all_turns(Scenario(options));
    const auto again = all_turns(Scenario(options));
    options.seed = 6;
    const auto other = all_turns(Scenario(options));
    ASSERT_EQ(once.size(), 50u);
    ASSERT_EQ(again.size(), 50u);
    ASSERT_EQ(other.size(), 50u);
    for (size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(once[i].text, again[i].text);
      EXPECT_EQ(once[i].drop_after, again[i].drop_after);
      EXPECT_NE(once[i].text, other[i].text);
    }
  }
}

TEST(Scenario, AnotherShapeAsksOtherWords) {
  ScenarioOptions options = options_of(ScenarioKind::kDistinct);
  options.prompt_words = {20, 20};
  const auto shorter = all_turns(Scenario(options));
  options.prompt_words = {30, 30};
  const auto longer = all_turns(Scenario(options));
  for (size_t i = 0; i < shorter.size(); ++i) EXPECT_FALSE(longer[i].text.starts_with(shorter[i].text.substr(0, 40)));
}

TEST(Scenario, PromptsHaveTheLengthAskedForAndDiffer) {
  std::set<std::string> texts;
  std::set<size_t> lengths;
  for (const Turn& turn : all_turns(Scenario(options_of(ScenarioKind::kDistinct)))) {
    texts.insert(turn.text);
    lengths.insert(n_words(turn.text));
    EXPECT_EQ(turn.output_tokens, 16u);
    EXPECT_FALSE(turn.drop_after);
  }
  EXPECT_EQ(texts.size(), 50u);
  EXPECT_GE(*lengths.begin(), 10u);
  EXPECT_LE(*lengths.rbegin(), 20u);
  EXPECT_GT(lengths.size(), 5u);
}

TEST(Scenario, ASharedPrefixIsEqualInAllAndWhatFollowsDiffers) {
  const auto turns = all_turns(Scenario(options_of(ScenarioKind::kSharedPrefix)));
  size_t end = 0;
  for (int i = 0; i < 100; ++i) end = turns[0].text.find(' ', end) + 1;
  std::set<std::string> rests;
  for (const Turn& turn : turns) {
    EXPECT_EQ(turn.text.substr(0, end), turns[0].text.substr(0, end));
    EXPECT_GE(n_words(turn.text), 110u);
    EXPECT_LE(n_words(turn.text), 120u);
    rests.insert(turn.text.substr(end));
  }
  EXPECT_EQ(rests.size(), turns.size());
}

TEST(Scenario, ConversationsHaveTheirTurnsAndTheLastOneWhatIsLeft) {
  const Scenario scenario(options_of(ScenarioKind::kMultiTurn));
  ASSERT_EQ(scenario.n_conversations(), 13u);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(scenario.n_turns(i), 4u);
  EXPECT_EQ(scenario.n_turns(12), 2u);
}

TEST(Scenario, AMixHasExactlyItsShareOfLongPrompts) {
  size_t n_long = 0;
  for (const Turn& turn : all_turns(Scenario(options_of(ScenarioKind::kMixed)))) {
    const size_t n = n_words(turn.text);
    EXPECT_TRUE((n >= 10 && n <= 20) || (n >= 200 && n <= 300)) << n;
    n_long += n >= 200 ? 1 : 0;
  }
  EXPECT_EQ(n_long, 15u);
}

TEST(Scenario, ExactlyTheShareIsDroppedWithinTheAnswer) {
  size_t n_dropped = 0;
  std::set<size_t> places;
  for (const Turn& turn : all_turns(Scenario(options_of(ScenarioKind::kCancelHeavy)))) {
    if (!turn.drop_after) continue;
    ++n_dropped;
    EXPECT_LT(*turn.drop_after, turn.output_tokens);
    places.insert(*turn.drop_after);
  }
  EXPECT_EQ(n_dropped, 30u);
  EXPECT_GT(places.size(), 5u);
}

TEST(Scenario, NamesAreReadBackAndOthersRefused) {
  for (const ScenarioKind kind : kAllKinds) EXPECT_EQ(*parse_scenario(scenario_name(kind)), kind);
  const auto unknown = parse_scenario("chaos");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "--scenario: expected one of distinct, shared-prefix, multi-turn, mixed, cancel-heavy, found 'chaos'");
}

TEST(SizeRange, NumbersAndRangesAreRead) {
  const auto number = parse_size_range("--n", "512");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->lowest, 512u);
  EXPECT_EQ(number->highest, 512u);
  const auto range = parse_size_range("--n", "3:5");
  ASSERT_TRUE(range);
  LoadRandom random(1, 1);
  std::set<size_t> drawn;
  for (int i = 0; i < 200; ++i) drawn.insert(range->draw(random));
  EXPECT_EQ(drawn, (std::set<size_t>{3, 4, 5}));
  for (const char* text : {"", "0", "5:3", "a", "1:", ":1", "1:2:3", "-1", "1.5", "10000001", "99999999999999999999"}) {
    EXPECT_FALSE(parse_size_range("--n", text)) << text;
  }
}

}  // namespace
}  // namespace ferrox
