// How do the vocabularies of byte-level BPE spell a byte? As one printable character each.
#include "text/byte_alphabet.h"

#include <array>

namespace ferrox {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr int kFirstStandIn = 0x100;
constexpr int kAlphabetEnd = kFirstStandIn + 68;  // 68 bytes don't stand for themselves

struct Alphabet {
  struct Character {
    char bytes[2];
    uint8_t length;
  };
  std::array<Character, 256> of_byte{};
  std::array<int16_t, kAlphabetEnd> of_code_point{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (int16_t& byte : alphabet.of_code_point) byte = -1;
  int next = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte) {
    const int code_point = stands_for_itself(byte) ? byte : next++;
    alphabet.of_code_point[static_cast<size_t>(code_point)] = static_cast<int16_t>(byte);
    Alphabet::Character& character = alphabet.of_byte[static_cast<size_t>(byte)];
    if (code_point < 0x80) {
      character = {{static_cast<char>(code_point), 0}, 1};
    } else {
      character = {{static_cast<char>(0xC0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 0x3F))}, 2};
    }
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

// The byte that the one- or two-byte character at the front of `text` stands for, -1 if none; `length` is its size.
int byte_at_front(std::string_view text, size_t& length) {
  const auto lead = static_cast<uint8_t>(text[0]);
  length = 1;
  if (lead < 0x80) return kAlphabet.of_code_point[lead];
  if ((lead & 0xE0) != 0xC0 || text.size() < 2 || (static_cast<uint8_t>(text[1]) & 0xC0) != 0x80) return -1;
  const size_t code_point = (static_cast<size_t>(lead & 0x1F) << 6) | (static_cast<uint8_t>(text[1]) & 0x3F);
  if (code_point < 0x80 || code_point >= kAlphabetEnd || kAlphabet.of_code_point[code_point] < 0) return -1;
  length = 2;
  return kAlphabet.of_code_point[code_point];
}

}  // namespace

std::string_view alphabet_character(uint8_t byte) {
  const Alphabet::Character& character = kAlphabet.of_byte[byte];
  return {character.bytes, character.length};
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char byte : bytes) text.append(alphabet_character(static_cast<uint8_t>(byte)));
  return text;
}

std::string from_byte_alphabet(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    size_t length = 1;
    const int byte = byte_at_front(text, length);
    bytes.push_back(byte >= 0 ? static_cast<char>(byte) : text[0]);
    text.remove_prefix(length);
  }
  return bytes;
}

}  // namespace ferrox
