#include "base/percent.h"

#include <charconv>

namespace ferrox {

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text[i] == '%' ? text.substr(i + 1, 2) : "";
    unsigned value = 0;
    const bool is_byte =
        digits.size() == 2 && std::from_chars(digits.data(), digits.data() + 2, value, 16).ptr == digits.data() + 2;
    out.push_back(is_byte ? static_cast<char>(value) : text[i]);
    if (is_byte) i += 2;
  }
  return out;
}

}  // namespace ferrox
