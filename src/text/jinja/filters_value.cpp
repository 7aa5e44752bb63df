// Which filters work on one value: numbers, defaults, JSON?
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/jinja/access.h"
#include "text/jinja/json_text.h"
#include "text/jinja/number_text.h"
#include "text/jinja/operators.h"
#include "text/jinja/tables.h"

namespace ferrox::jinja {
namespace {

constexpr int kMaxRoundDigits = 300;

Value filter_default(Call& call) {
  const bool missing = call.self().is_undefined() || (call.flag(1, false) && !is_true(call.self()));
  return missing ? call.at_or(0, template_text("")) : call.self();
}

Value filter_attr(Call& call) {
  const TextPtr name = call.text(0);
  const bool is_item = call.self().is_dict() && find_method(call.self(), name->bytes()) == nullptr;
  if (is_item) return undefined_value(fmt::format("'dict object' has no attribute '{}'", name->bytes()));
  return get_attribute(call.interpreter(), call.self(), name->bytes());
}

Value filter_abs(Call& call) {
  refuse_undefined(call.self());
  if (!call.self().is_number()) fail("abs: expected a number, found '{}'", type_name(call.self()));
  if (call.self().is(Kind::kFloat)) return std::fabs(call.self().number());
  return call.self().integer() < 0 ? apply(UnaryOperator::kMinus, call.self()) : Value(call.self().integer());
}

std::optional<Integer> truncated(double value) {
  if (!(std::fabs(value) < 1e38)) return std::nullopt;
  return static_cast<Integer>(value);
}

Value filter_int(Call& call) {
  const Value& self = call.self();
  refuse_undefined(self);
  const Value fallback = call.at_or(0, Value(0));
  if (self.is_integral()) return self.integer();
  std::optional<Integer> value;
  if (self.is(Kind::kFloat)) value = truncated(self.number());
  if (self.is_text()) {
    value = parse_integer(self.bytes(), static_cast<unsigned>(std::clamp<Integer>(call.integer(1, 10), 0, 36)));
    if (const auto number = value ? std::nullopt : parse_float(self.bytes())) value = truncated(*number);
  }
  return value ? Value(*value) : fallback;
}

Value filter_float(Call& call) {
  const Value& self = call.self();
  refuse_undefined(self);
  if (self.is_number()) return self.number();
  const auto value = self.is_text() ? parse_float(self.bytes()) : std::nullopt;
  return value ? Value(*value) : call.at_or(0, Value(0.0));
}

/// Python rounds the exact decimal value, halves to even; so does printf.
double round_common(double value, int digits) {
  if (!std::isfinite(value)) return value;
  if (digits <= 0) {
    const double scale = std::pow(10.0, -digits);
    return std::nearbyint(value / scale) * scale;
  }
  return std::strtod(fmt::format("{:.{}f}", value, digits).c_str(), nullptr);
}

Value filter_round(Call& call) {
  const Value& self = call.self();
  refuse_undefined(self);
  if (!self.is_number()) fail("round: expected a number, found '{}'", type_name(self));
  const TextPtr method = call.text(1, "common");
  const int digits = static_cast<int>(std::clamp<Integer>(call.integer(0, 0), -kMaxRoundDigits, kMaxRoundDigits));
  if (method->bytes() == "common") {
    if (self.is_integral() && digits >= 0) return self.integer();
    const double rounded = round_common(self.number(), digits);
    const auto whole = self.is_integral() ? truncated(rounded) : std::nullopt;
    return whole ? Value(*whole) : Value(rounded);
  }
  const double scale = std::pow(10.0, digits);
  if (method->bytes() == "ceil") return std::ceil(self.number() * scale) / scale;
  if (method->bytes() == "floor") return std::floor(self.number() * scale) / scale;
  fail("round: expected the method 'common', 'ceil' or 'floor', found '{}'", method->bytes());
}

std::optional<std::string> indent_argument(Call& call, size_t i) {
  if (!call.has(i) || call.at(i).is_none()) return std::nullopt;
  if (call.at(i).is_text()) return std::string(call.at(i).bytes());
  constexpr Integer kMaxIndent = 1000;
  return std::string(static_cast<size_t>(std::clamp<Integer>(call.integer(i, 0), 0, kMaxIndent)), ' ');
}

Value filter_tojson(Call& call) {
  JsonStyle style;
  style.indent = indent_argument(call, 1);
  if (style.indent) style.item_separator.assign(1, ',');
  if (call.flag(0, false)) style.non_ascii = NonAscii::kEscape;
  if (call.flag(3, false)) style.key_order = KeyOrder::kSorted;
  if (call.has(2) && !call.at(2).is_none()) {
    const SequencePtr separators = iterate(call.interpreter(), call.at(2));
    const bool fits = separators->items.size() == 2 && separators->items[0].is_text() && separators->items[1].is_text();
    if (!fits) fail("tojson: expected two strings as separators");
    style.item_separator = separators->items[0].bytes();
    style.key_separator = separators->items[1].bytes();
  }
  return to_json(call.budget(), call.self(), style);
}

constexpr std::array kValueFilters = {
    Builtin{"abs", filter_abs},
    Builtin{"attr", filter_attr, {"name"}, 1},
    Builtin{"d", filter_default, {"default_value", "boolean"}},
    Builtin{"default", filter_default, {"default_value", "boolean"}},
    Builtin{"float", filter_float, {"default"}},
    Builtin{"int", filter_int, {"default", "base"}},
    Builtin{"round", filter_round, {"precision", "method"}},
    Builtin{"tojson", filter_tojson, {"ensure_ascii", "indent", "separators", "sort_keys"}},
};

}  // namespace

BuiltinTable value_filters() { return {kValueFilters.data(), kValueFilters.size()}; }

}  // namespace ferrox::jinja
