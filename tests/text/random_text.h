// What could a text be? Anything: random Unicode, random bytes, and words that a vocabulary knows.
#pragma once

#include <utf8proc.h>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace ferrox::testing {

inline void append_character(std::string& text, int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

/// `n_characters` of any script, with spaces, digits, ASCII and marks more often than chance would have them.
inline std::string random_unicode(std::mt19937& random, size_t n_characters) {
  std::string text;
  while (n_characters > 0) {
    const auto limit = std::uniform_int_distribution<int>(0, 4)(random);
    const int32_t top = limit < 2 ? 0x80 : limit == 2 ? 0x400 : limit == 3 ? 0x3100 : 0x110000;
    const auto code_point = std::uniform_int_distribution<int32_t>(0, top - 1)(random);
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    append_character(text, code_point);
    --n_characters;
  }
  return text;
}

inline std::string random_bytes(std::mt19937& random, size_t n_bytes) {
  std::string bytes;
  while (n_bytes-- > 0) bytes.push_back(static_cast<char>(random() & 0xFF));
  return bytes;
}

/// `n_words` of strings that merge, repeat, and look like control tokens.
inline std::string random_words(std::mt19937& random, size_t n_words) {
  constexpr std::string_view kWords[] = {"the",          " the",     "hello",  "ab",     "aaaaaaa", " ",
                                         "   ",          "\n\n",     "123",    "\u20AC", "ing",     "<|im_end|>",
                                         "<|im_start|>", "</s>",     "<s>",    "<unk>",  "<|im",    "_end|>",
                                         "\u4E2D",       "\xE2\x82", "<0x41>", "\t",     "a",       "<think>"};
  std::string text;
  while (n_words-- > 0) text.append(kWords[random() % std::size(kWords)]);
  return text;
}

}  // namespace ferrox::testing
