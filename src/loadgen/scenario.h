// What is asked of the server? Conversations, each made from the seed and its number alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/size_range.h"

namespace ferrox {

enum class ScenarioKind {
  kDistinct,      ///< every prompt is another one
  kSharedPrefix,  ///< all prompts begin with the same words
  kMultiTurn,     ///< conversations of several turns, each with all that was said before
  kMixed,         ///< short prompts and a share of long ones
  kCancelHeavy,   ///< a share of the requests is dropped on the way
};

/// "distinct", "shared-prefix", "multi-turn", "mixed", "cancel-heavy".
const char* scenario_name(ScenarioKind kind);
std::string scenario_names();  ///< all of them, for help and messages
Result<ScenarioKind> parse_scenario(std::string_view text);

/// Sizes of prompts are words, which are tokens nearly: only the server has the vocabulary.
struct ScenarioOptions {
  ScenarioKind kind = ScenarioKind::kDistinct;
  size_t n_requests = 32;
  SizeRange prompt_words{256, 256};  ///< of each turn, behind the prefix
  size_t output_tokens = 64;         ///< most tokens of an answer
  size_t prefix_words = 1024;        ///< kSharedPrefix
  size_t n_turns = 4;                ///< kMultiTurn, at least 1
  SizeRange long_words{2048, 2048};  ///< kMixed: prompts that are long
  double long_share = 0.25;          ///< kMixed: of the requests, rounded to whole ones
  double cancel_share = 0.5;         ///< kCancelHeavy: of the requests, rounded to whole ones
  uint64_t seed = 1;
};

/// One request.
struct Turn {
  std::string text;
  size_t output_tokens;
  std::optional<size_t> drop_after;  ///< the connection is closed once so many tokens came; 0: once it is sent
};

/// Requests of which each waits for the one before.
using Conversation = std::vector<Turn>;

class Scenario {
 public:
  explicit Scenario(const ScenarioOptions& options);

  size_t n_requests() const { return options_.n_requests; }
  size_t n_conversations() const;

  /// Turns of a conversation: all have the same number but for the last one, which has what is left.
  size_t n_turns(size_t index) const;

  /// The number of the first request of a conversation; the others follow.
  size_t first_request(size_t index) const { return index * turns_each(); }

  /// The same for every call. `index` is below n_conversations().
  Conversation conversation(size_t index) const;

 private:
  size_t turns_each() const { return options_.kind == ScenarioKind::kMultiTurn ? options_.n_turns : 1; }

  ScenarioOptions options_;
  std::string prefix_;
  std::vector<bool> marked_;  ///< of each request: long, or dropped
};

}  // namespace ferrox
