// Which class and case has a character?
#include "text/jinja/codepoint.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ferrox::jinja {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

/// Upper cases of more than one character that occur in prose; utf8proc maps single characters only.
constexpr std::array<std::pair<char32_t, std::string_view>, 8> kLongUpper = {{
    {0xDF, "SS"},
    {0x149, "\u02BCN"},
    {0x1F0, "J\u030C"},
    {0xFB00, "FF"},
    {0xFB01, "FI"},
    {0xFB02, "FL"},
    {0xFB03, "FFI"},
    {0xFB04, "FFL"},
}};

utf8proc_ssize_t decode(std::string_view text, size_t at, utf8proc_int32_t* character) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  return utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), character);
}

utf8proc_category_t category(char32_t character) { return utf8proc_category(static_cast<utf8proc_int32_t>(character)); }

const std::string_view* long_upper(char32_t character) {
  const auto found = std::find_if(kLongUpper.begin(), kLongUpper.end(),
                                  [character](const auto& row) { return row.first == character; });
  return found == kLongUpper.end() ? nullptr : &found->second;
}

}  // namespace

size_t char_size(std::string_view text, size_t at) {
  if (static_cast<unsigned char>(text[at]) < 0x80) return 1;
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t size = decode(text, at, &character);
  return size > 0 ? static_cast<size_t>(size) : 1;
}

char32_t char_at(std::string_view text, size_t at) {
  utf8proc_int32_t character = 0;
  return decode(text, at, &character) > 0 ? static_cast<char32_t>(character) : kReplacement;
}

size_t last_char(std::string_view text, size_t end) {
  for (size_t size = 2; size <= 4 && size <= end; ++size) {
    if ((static_cast<unsigned char>(text[end - size]) & 0xC0) == 0x80) continue;
    if (char_size(text.substr(0, end), end - size) == size) return end - size;
    break;
  }
  return end - 1;
}

size_t count_chars(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += char_size(text, at)) ++count;
  return count;
}

size_t byte_of_char(std::string_view text, size_t index) {
  size_t at = 0;
  while (index > 0 && at < text.size()) {
    at += char_size(text, at);
    --index;
  }
  return at;
}

std::string encode(char32_t character) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes.data());
  return std::string(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(size));
}

bool is_space(char32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_alpha(char32_t character) {
  const utf8proc_category_t kind = category(character);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t character) { return category(character) == UTF8PROC_CATEGORY_ND; }

bool is_upper(char32_t character) { return category(character) == UTF8PROC_CATEGORY_LU; }

bool is_lower(char32_t character) { return category(character) == UTF8PROC_CATEGORY_LL; }

bool is_printable(char32_t character) {
  if (character == ' ') return true;
  const utf8proc_category_t kind = category(character);
  return kind != UTF8PROC_CATEGORY_CN && kind < UTF8PROC_CATEGORY_ZS;
}

std::string upper_of(char32_t character) {
  if (const auto* mapped = long_upper(character)) return std::string(*mapped);
  return encode(static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(character))));
}

std::string lower_of(char32_t character) {
  return encode(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))));
}

std::string title_of(char32_t character) {
  if (character == 0xDF) return "Ss";
  return encode(static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(character))));
}

ByteRange trim_space(std::string_view text) {
  size_t begin = 0;
  size_t end = text.size();
  while (begin < end && is_space(char_at(text, begin))) begin += char_size(text, begin);
  while (end > begin) {
    const size_t at = last_char(text, end);
    if (!is_space(char_at(text.substr(0, end), at))) break;
    end = at;
  }
  return {begin, end};
}

}  // namespace ferrox::jinja
