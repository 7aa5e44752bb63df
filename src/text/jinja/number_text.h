// How are numbers read and written, as Python does?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/jinja/failure.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// A number as written in a template: 12, 1_000, 0x1F, 0o17, 0b11; fails on one of more than 127 bits.
Value parse_integer_literal(std::string_view written, Position position);
/// 1.5, 2e3, 1_0.5
Value parse_float_literal(std::string_view written);

/// Python's int(text, base); nothing where Python raises. Base 0 takes it from the prefix.
std::optional<Integer> parse_integer(std::string_view text, unsigned base);
/// Python's float(text); nothing where Python raises.
std::optional<double> parse_float(std::string_view text);

std::string integer_text(Integer value);
/// Python's repr(float): shortest digits that read back, "1.0", "1e+16", "inf", "nan".
std::string float_text(double value);

}  // namespace ferrox::jinja
