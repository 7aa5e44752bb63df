// How are escapes in a quoted string resolved?
#include "text/jinja/string_literal.h"

#include <algorithm>

#include "text/jinja/codepoint.h"

namespace ferrox::jinja {
namespace {

constexpr std::string_view kSimple = "\\'\"abfnrtv";
constexpr std::string_view kMeaning = "\\'\"\a\b\f\n\r\t\v";

/// Digits of `base` from `at`, at most `max_digits`; moves `at` past them.
char32_t read_digits(std::string_view text, size_t& at, size_t max_digits, unsigned base) {
  char32_t value = 0;
  for (; max_digits > 0 && at < text.size(); --max_digits, ++at) {
    const char c = text[at];
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                  : 16U;
    if (digit >= base) break;
    value = value * base + digit;
  }
  return value;
}

std::string hex_escape(std::string_view text, size_t& at, size_t n_digits, Position position) {
  const size_t begin = at;
  const char32_t value = read_digits(text, at, n_digits, 16);
  if (at != begin + n_digits) fail_at(position, "string escape: expected {} hexadecimal digits", n_digits);
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
    fail_at(position, "string escape: expected a character, found {:#x}", static_cast<uint32_t>(value));
  }
  return encode(value);
}

std::string resolve(std::string_view text, size_t& at, Position position) {
  const char c = text[at];
  if (const size_t simple = kSimple.find(c); simple != std::string_view::npos)
    return ++at, std::string(1, kMeaning[simple]);
  if (c == '\n') return ++at, std::string();
  if (c >= '0' && c <= '7') return encode(read_digits(text, at, 3, 8));
  if (c == 'x') return hex_escape(text, ++at, 2, position);
  if (c == 'u') return hex_escape(text, ++at, 4, position);
  if (c == 'U') return hex_escape(text, ++at, 8, position);
  if (c == 'N') fail_at(position, "string escape: characters can't be given by name");
  return "\\";
}

}  // namespace

std::string unescape_literal(std::string_view written, Position position) {
  std::string result;
  for (size_t at = 0; at < written.size();) {
    const size_t slash = std::min(written.find('\\', at), written.size());
    result.append(written.substr(at, slash - at));
    at = slash + 1;
    if (at < written.size()) result.append(resolve(written, at, position));
  }
  return result;
}

}  // namespace ferrox::jinja
