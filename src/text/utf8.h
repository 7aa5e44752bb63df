// What stands at the front of a byte string: a whole UTF-8 character, the beginning of one, or neither?
#pragma once

#include <cstddef>
#include <string_view>

namespace ferrox {

enum class Utf8Kind {
  kCharacter,   ///< a whole, valid character
  kIncomplete,  ///< the bytes end inside a character that is valid so far
  kInvalid,     ///< a maximal subpart that no continuation could save; U+FFFD stands for it
};

struct Utf8Step {
  Utf8Kind kind;
  size_t length;  ///< bytes it takes, 1 to 4
};

/// Classifies the front of `bytes` (not empty) by the WHATWG decoder's table: no surrogates, no overlong forms,
/// nothing above U+10FFFF. An invalid sequence's length is that of its maximal subpart.
Utf8Step next_utf8(std::string_view bytes);

/// Bytes at the front of `bytes` that are whole, valid characters.
size_t valid_utf8_prefix(std::string_view bytes);

/// U+FFFD in UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

}  // namespace ferrox
