// Which digits stand for a number?
#include "text/jinja/number_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "text/jinja/codepoint.h"

namespace ferrox::jinja {
namespace {

constexpr int kFirstExponent = 16;  // Python's repr writes an exponent from 1e16 on, and below 1e-4
constexpr int kLastExponent = -4;

unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower >= 'a' && lower <= 'z' ? static_cast<unsigned>(lower - 'a' + 10) : 99U;
}

std::optional<Integer> parse_digits(std::string_view digits, unsigned base) {
  Integer value = 0;
  bool after_digit = false;
  for (const char c : digits) {
    if (c == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const unsigned digit = digit_value(c);
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(value, Integer{base}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, Integer{digit}, &value)) return std::nullopt;
    after_digit = true;
  }
  return after_digit ? std::optional(value) : std::nullopt;
}

/// The base that a prefix like 0x names; 0 without one.
unsigned prefix_base(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') return 0;
  const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(text[1])));
  return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
}

std::string without_underscores(std::string_view text) {
  std::string result(text);
  result.erase(std::remove(result.begin(), result.end(), '_'), result.end());
  return result;
}

std::string_view trimmed(std::string_view text) {
  const ByteRange kept = trim_space(text);
  return text.substr(kept.begin, kept.end - kept.begin);
}

/// Digits without a point, and the power of ten of the first digit.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal shortest_decimal(double value) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t e = text.find('e');
  Decimal result;
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits.push_back(c);
  }
  result.exponent = std::stoi(std::string(text.substr(e + 1)));
  return result;
}

std::string scientific(const Decimal& number) {
  std::string digits = number.digits;
  if (digits.size() > 1) digits.insert(1, 1, '.');
  return fmt::format("{}e{}{:02}", digits, number.exponent < 0 ? '-' : '+', std::abs(number.exponent));
}

std::string positional(const Decimal& number) {
  if (number.exponent < 0) {
    return "0." + std::string(static_cast<size_t>(-number.exponent - 1), '0') + number.digits;
  }
  std::string digits = number.digits;
  const size_t whole = static_cast<size_t>(number.exponent) + 1;
  if (digits.size() < whole + 1) digits.resize(whole + 1, '0');
  digits.insert(whole, 1, '.');
  return digits;
}

}  // namespace

Value parse_integer_literal(std::string_view written, Position position) {
  const auto value = parse_integer(written, 0);
  if (!value) fail_at(position, "expected an integer below 2^127, found {}", written);
  return *value;
}

Value parse_float_literal(std::string_view written) {
  return parse_float(written).value_or(std::numeric_limits<double>::infinity());
}

std::optional<Integer> parse_integer(std::string_view text, unsigned base) {
  text = trimmed(text);
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  if (const unsigned named = prefix_base(text); named != 0 && (base == 0 || base == named)) {
    base = named;
    text.remove_prefix(2);
    if (!text.empty() && text[0] == '_') text.remove_prefix(1);
  }
  const auto value = parse_digits(text, base == 0 ? 10 : base);
  return value && negative ? std::optional(-*value) : value;
}

std::optional<double> parse_float(std::string_view text) {
  std::string digits = without_underscores(trimmed(text));
  std::transform(digits.begin(), digits.end(), digits.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool negative = !digits.empty() && digits[0] == '-';
  if (negative || (!digits.empty() && digits[0] == '+')) digits.erase(0, 1);
  if (digits.empty() || digits[0] == '-' || digits.find('(') != std::string::npos) return std::nullopt;
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) value = std::strtod(digits.c_str(), nullptr);
  return negative ? -value : value;
}

std::string integer_text(Integer value) { return fmt::format("{}", value); }

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const std::string sign = std::signbit(value) ? "-" : "";
  const Decimal number = shortest_decimal(std::fabs(value));
  const bool in_range = number.exponent >= kLastExponent && number.exponent < kFirstExponent;
  return sign + (in_range ? positional(number) : scientific(number));
}

}  // namespace ferrox::jinja
