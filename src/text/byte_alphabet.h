// How do the vocabularies of byte-level BPE spell a byte? As one printable character each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ferrox {

/// The character that stands for `byte`: itself when it is printable Latin-1 and no space, else one of U+0100..U+0143.
std::string_view alphabet_character(uint8_t byte);

/// `bytes` spelled in the alphabet.
std::string to_byte_alphabet(std::string_view bytes);

/// The bytes that `text` spells; a character outside the alphabet stands for its own UTF-8 bytes.
std::string from_byte_alphabet(std::string_view text);

}  // namespace ferrox
