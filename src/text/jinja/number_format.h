// How is one value laid out by a format specification?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "text/jinja/build.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// What `%05.2f` and `{:>5.2f}` have in common.
struct FormatSpec {
  enum class Align : uint8_t { kDefault, kLeft, kRight, kCentre, kAfterSign };
  std::string fill = " ";
  Align align = Align::kDefault;
  char sign = '-';  ///< '-', '+' or ' '
  bool alternate = false;
  char grouping = '\0';  ///< ',' or '_'
  size_t width = 0;
  std::optional<size_t> precision;
  char type = '\0';
};

/// Widths and precisions beyond this are refused.
inline constexpr size_t kMaxFormatWidth = 100'000;
inline constexpr size_t kMaxPrecision = 500;

/// Adds a number in the given form; fails on a type letter that doesn't fit it.
void add_number(TextBuilder& out, const FormatSpec& spec, const Value& value);
/// Adds a text, cut to the precision and padded to the width.
void add_padded(TextBuilder& out, const FormatSpec& spec, const Text& text);

}  // namespace ferrox::jinja
