// Which sign, prefix, digits and padding does a formatted value get?
#include "text/jinja/number_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "text/jinja/codepoint.h"
#include "text/jinja/number_text.h"

namespace ferrox::jinja {
namespace {

using Align = FormatSpec::Align;

/// A number without its padding.
struct Body {
  std::string sign;
  std::string prefix;
  std::string digits;
};

std::string sign_of(const FormatSpec& spec, bool negative) {
  if (negative) return "-";
  return spec.sign == '-' ? "" : std::string(1, spec.sign);
}

std::string in_base(Integer value, unsigned base, bool upper) {
  std::string digits;
  do {
    const unsigned digit = static_cast<unsigned>(value % base);
    digits.push_back("0123456789abcdef"[digit]);
    value /= base;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  if (upper)
    std::transform(digits.begin(), digits.end(), digits.begin(), [](unsigned char c) { return std::toupper(c); });
  return digits;
}

unsigned base_of(char type) {
  switch (type) {
    case 'x':
    case 'X':
      return 16;
    case 'o':
      return 8;
    case 'b':
      return 2;
    default:
      return 10;
  }
}

Body integer_body(const FormatSpec& spec, Integer value) {
  if (value == std::numeric_limits<Integer>::min()) fail("integer is larger than 127 bits");
  const unsigned base = base_of(spec.type);
  Body body;
  body.sign = sign_of(spec, value < 0);
  if (spec.alternate && base != 10) body.prefix = {'0', spec.type};
  body.digits = in_base(value < 0 ? -value : value, base, spec.type == 'X');
  if (spec.precision && body.digits.size() < *spec.precision) {
    body.digits.insert(0, *spec.precision - body.digits.size(), '0');
  }
  return body;
}

std::string print_float(double value, char type, size_t precision, bool alternate) {
  std::array<char, kMaxPrecision + 400> buffer{};
  const std::string format = std::string(alternate ? "%#.*" : "%.*") + type;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(buffer.data(), buffer.size(), format.c_str(), static_cast<int>(precision), value);
#pragma GCC diagnostic pop
  return std::string(buffer.data(), static_cast<size_t>(size));
}

Body float_body(const FormatSpec& spec, double value) {
  Body body;
  body.sign = sign_of(spec, std::signbit(value));
  value = std::fabs(value);
  if (spec.type == '\0' && !spec.precision) {
    body.digits = float_text(value);
  } else if (spec.type == '%') {
    body.digits = print_float(value * 100, 'f', spec.precision.value_or(6), spec.alternate) + "%";
  } else {
    const char type = spec.type == '\0' ? 'g' : spec.type;
    const size_t precision = spec.precision.value_or(6);
    body.digits = print_float(value, type, precision, spec.alternate);
  }
  return body;
}

/// Puts a separator between groups of digits of the whole part.
std::string grouped(std::string digits, char separator, unsigned base) {
  if (separator == '\0') return digits;
  const size_t group = base == 10 ? 3 : 4;
  const size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  for (size_t at = whole; at > group; at -= group) digits.insert(at - group, 1, separator);
  return digits;
}

void add_aligned(TextBuilder& out, const FormatSpec& spec, Align align, const std::string& head, const Text& body) {
  const size_t n_chars = head.size() + count_chars(body.bytes());
  const size_t missing = spec.width > n_chars ? spec.width - n_chars : 0;
  const Text fill(spec.fill, Origin::kTemplate);
  const size_t left = align == Align::kRight ? missing : align == Align::kCentre ? missing / 2 : 0;
  out.repeat(fill, left).print(head);
  if (align == Align::kAfterSign) out.repeat(fill, missing);
  out.add(body);
  if (align != Align::kAfterSign) out.repeat(fill, missing - left);
}

}  // namespace

void add_number(TextBuilder& out, const FormatSpec& spec, const Value& value) {
  const bool as_integer =
      value.is_integral() && std::string_view("\0dxXobc", 7).find(spec.type) != std::string_view::npos;
  if (!as_integer && std::string_view("\0eEfFgG%", 8).find(spec.type) == std::string_view::npos) {
    fail("format '{}' doesn't fit a value of type '{}'", spec.type, type_name(value));
  }
  if (spec.type == 'c')
    return add_padded(out, spec, Text(encode(static_cast<char32_t>(value.integer())), Origin::kTemplate));
  Body body = as_integer ? integer_body(spec, value.integer()) : float_body(spec, value.number());
  body.digits = grouped(std::move(body.digits), spec.grouping, base_of(spec.type));
  add_aligned(out, spec, spec.align == Align::kDefault ? Align::kRight : spec.align, body.sign + body.prefix,
              Text(body.digits, Origin::kTemplate));
}

void add_padded(TextBuilder& out, const FormatSpec& spec, const Text& text) {
  const size_t end = spec.precision ? byte_of_char(text.bytes(), *spec.precision) : text.size();
  const Align align = spec.align == Align::kDefault || spec.align == Align::kAfterSign ? Align::kLeft : spec.align;
  add_aligned(out, spec, align, "", text.slice(0, end));
}

}  // namespace ferrox::jinja
