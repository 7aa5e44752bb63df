// Which token texts mean something in themselves? Files often leave the role of such tokens unsaid.
#pragma once

#include <span>
#include <string_view>

#include "text/vocabulary.h"

namespace ferrox {

/// Where a role's id stands in a file, what it is when the file doesn't say, and how such tokens are spelled.
struct KnownRole {
  TokenRole role;
  std::string_view key;                     ///< metadata key
  std::string_view old_key;                 ///< its former name, or empty
  std::span<const std::string_view> texts;  ///< in order of preference; empty: never guessed
};
std::span<const KnownRole> known_roles();

/// Tokens that end an answer in every vocabulary that has them.
std::span<const std::string_view> known_turn_enders();

}  // namespace ferrox
