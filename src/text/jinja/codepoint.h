// What does Python's str know about characters that bytes don't?
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ferrox::jinja {

/// Bytes of the character that starts at `at`: 1 to 4; a byte that starts no character counts as one.
size_t char_size(std::string_view text, size_t at);
/// The character that starts at `at`; U+FFFD for a byte that starts none.
char32_t char_at(std::string_view text, size_t at);
/// The byte at which the last character of text[0, end) starts; end > 0.
size_t last_char(std::string_view text, size_t end);
/// Characters in the text.
size_t count_chars(std::string_view text);
/// The byte at which character number `index` starts; the size when there are fewer.
size_t byte_of_char(std::string_view text, size_t index);
std::string encode(char32_t character);

bool is_space(char32_t character);
bool is_alpha(char32_t character);
bool is_decimal(char32_t character);
bool is_upper(char32_t character);
bool is_lower(char32_t character);
/// Python's str.isprintable of one character: what repr() leaves unescaped.
bool is_printable(char32_t character);

/// Full mappings of one character ("ß" becomes "SS"), UTF-8.
std::string upper_of(char32_t character);
std::string lower_of(char32_t character);
std::string title_of(char32_t character);

/// The text without white space at its ends, as the byte range [begin, end).
struct ByteRange {
  size_t begin;
  size_t end;
};
ByteRange trim_space(std::string_view text);

}  // namespace ferrox::jinja
