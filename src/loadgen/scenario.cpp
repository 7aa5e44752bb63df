#include "loadgen/scenario.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "loadgen/random.h"
#include "loadgen/words.h"

namespace ferrox {
namespace {

constexpr const char* kScenarioNames[] = {"distinct", "shared-prefix", "multi-turn", "mixed", "cancel-heavy"};

// Streams beside those of the conversations, which count from 0.
constexpr uint64_t kPrefixStream = ~uint64_t{0} - 1;
constexpr uint64_t kMarkStream = ~uint64_t{0} - 2;

/// `share` of n places, in an order of chance.
std::vector<bool> mark_share(size_t n, double share, LoadRandom& random) {
  std::vector<bool> marks(n, false);
  const auto n_marked = static_cast<size_t>(std::llround(share * static_cast<double>(n)));
  std::fill_n(marks.begin(), std::min(n, n_marked), true);
  for (size_t i = n; i > 1; --i) {
    const size_t other = random.below(i);
    const bool held = marks[i - 1];
    marks[i - 1] = marks[other];
    marks[other] = held;
  }
  return marks;
}

/// Prompts of another shape have other words: a run doesn't find in a server's cache what a differently shaped one
/// left.
uint64_t seed_of_shape(const ScenarioOptions& options) {
  uint64_t seed = options.seed;
  for (const size_t number : {static_cast<size_t>(options.kind), options.prompt_words.lowest,
                              options.prompt_words.highest, options.prefix_words, options.long_words.lowest}) {
    seed = LoadRandom(seed, number).next();
  }
  return seed;
}

}  // namespace

const char* scenario_name(ScenarioKind kind) { return kScenarioNames[static_cast<size_t>(kind)]; }

std::string scenario_names() {
  return fmt::format("{}", fmt::join(std::begin(kScenarioNames), std::end(kScenarioNames), ", "));
}

Result<ScenarioKind> parse_scenario(std::string_view text) {
  const auto* const found = std::find(std::begin(kScenarioNames), std::end(kScenarioNames), text);
  if (found == std::end(kScenarioNames)) {
    return make_error(ErrorCode::kInvalidArgument, "--scenario: expected one of {}, found '{}'", scenario_names(),
                      text);
  }
  return static_cast<ScenarioKind>(found - std::begin(kScenarioNames));
}

Scenario::Scenario(const ScenarioOptions& options) : options_(options) {
  options_.seed = seed_of_shape(options);
  LoadRandom marks(options_.seed, kMarkStream);
  if (options.kind == ScenarioKind::kMixed) marked_ = mark_share(options.n_requests, options.long_share, marks);
  if (options.kind == ScenarioKind::kCancelHeavy) {
    marked_ = mark_share(options.n_requests, options.cancel_share, marks);
  }
  if (options.kind == ScenarioKind::kSharedPrefix) {
    LoadRandom random(options_.seed, kPrefixStream);
    prefix_ = random_words(random, options.prefix_words) + " ";
  }
}

size_t Scenario::n_conversations() const { return (options_.n_requests + turns_each() - 1) / turns_each(); }

size_t Scenario::n_turns(size_t index) const {
  return std::min(turns_each(), options_.n_requests - first_request(index));
}

Conversation Scenario::conversation(size_t index) const {
  LoadRandom random(options_.seed, index);
  const bool is_marked = !marked_.empty() && marked_[index];
  const bool is_long = is_marked && options_.kind == ScenarioKind::kMixed;
  Conversation turns;
  for (size_t i = 0; i < n_turns(index); ++i) {
    const size_t n_words = (is_long ? options_.long_words : options_.prompt_words).draw(random);
    turns.push_back({prefix_ + random_words(random, n_words), options_.output_tokens, std::nullopt});
    if (is_marked && !is_long) turns.back().drop_after = random.below(options_.output_tokens);
  }
  return turns;
}

}  // namespace ferrox
