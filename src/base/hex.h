// How are random or hashed bytes written? As hexadecimal digits in lower case, and read back strictly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ferrox {

template <size_t n>
std::string hex_of(const std::array<uint8_t, n>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * n);
  for (const uint8_t byte : bytes) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

/// The value of one digit; -1: not one.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Exactly 2 n digits, or nothing.
template <size_t n>
std::optional<std::array<uint8_t, n>> parse_hex(std::string_view hex) {
  if (hex.size() != 2 * n) return std::nullopt;
  std::array<uint8_t, n> out;
  for (size_t i = 0; i < n; ++i) {
    const int high = hex_digit(hex[2 * i]);
    const int low = hex_digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return out;
}

}  // namespace ferrox
