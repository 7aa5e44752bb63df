// How do numbers, strings and lists add, multiply and divide?
#include <algorithm>
#include <array>
#include <cmath>

#include "text/jinja/build.h"
#include "text/jinja/html.h"
#include "text/jinja/operators.h"
#include "text/jinja/printf_format.h"

namespace ferrox::jinja {
namespace {

constexpr std::array<std::string_view, 7> kSymbols = {"+", "-", "*", "/", "//", "%", "**"};

[[noreturn]] void refuse(BinaryOperator operation, const Value& left, const Value& right) {
  fail("unsupported operand types for {}: '{}' and '{}'", kSymbols[static_cast<size_t>(operation)], type_name(left),
       type_name(right));
}

void refuse_zero(bool is_zero) {
  if (is_zero) fail("division by zero");
}

[[noreturn]] void overflow() { fail("integer is larger than 127 bits"); }

/// Quotient and remainder that round towards minus infinity.
struct Division {
  Integer quotient;
  Integer remainder;
};

Division divide_floor(Integer left, Integer right) {
  refuse_zero(right == 0);
  if (right == -1) {
    Integer quotient = 0;
    if (__builtin_sub_overflow(Integer{0}, left, &quotient)) overflow();
    return {quotient, 0};
  }
  Division result{left / right, left % right};
  if (result.remainder != 0 && (result.remainder < 0) != (right < 0)) {
    result.remainder += right;
    --result.quotient;
  }
  return result;
}

double modulo(double left, double right) {
  refuse_zero(right == 0);
  const double remainder = std::fmod(left, right);
  if (remainder == 0) return std::copysign(0.0, right);
  return (remainder < 0) != (right < 0) ? remainder + right : remainder;
}

double divide_floor(double left, double right) {
  const double exact = (left - modulo(left, right)) / right;
  const double floored = std::floor(exact);
  return exact - floored > 0.5 ? floored + 1 : floored;
}

Value power(Integer base, Integer exponent) {
  if (exponent < 0) {
    refuse_zero(base == 0);
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  Integer result = 1;
  while (true) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
    exponent >>= 1;
    if (exponent == 0) return result;
    if (base == 0 || base == 1) return exponent > 0 && base == 0 ? Value(0) : Value(result);
    if (__builtin_mul_overflow(base, base, &base)) overflow();
  }
}

double power(double base, double exponent) {
  refuse_zero(base == 0 && exponent < 0);
  if (base < 0 && std::floor(exponent) != exponent) fail("power of a negative number with a fraction as exponent");
  return std::pow(base, exponent);
}

Value apply_integers(BinaryOperator operation, Integer left, Integer right) {
  Integer result = 0;
  switch (operation) {
    case BinaryOperator::kAdd:
      if (__builtin_add_overflow(left, right, &result)) overflow();
      return result;
    case BinaryOperator::kSubtract:
      if (__builtin_sub_overflow(left, right, &result)) overflow();
      return result;
    case BinaryOperator::kMultiply:
      if (__builtin_mul_overflow(left, right, &result)) overflow();
      return result;
    case BinaryOperator::kDivide:
      refuse_zero(right == 0);
      return static_cast<double>(left) / static_cast<double>(right);
    case BinaryOperator::kFloorDivide:
      return divide_floor(left, right).quotient;
    case BinaryOperator::kModulo:
      return divide_floor(left, right).remainder;
    case BinaryOperator::kPower:
      return power(left, right);
  }
  return {};
}

Value apply_floats(BinaryOperator operation, double left, double right) {
  switch (operation) {
    case BinaryOperator::kAdd:
      return left + right;
    case BinaryOperator::kSubtract:
      return left - right;
    case BinaryOperator::kMultiply:
      return left * right;
    case BinaryOperator::kDivide:
      refuse_zero(right == 0);
      return left / right;
    case BinaryOperator::kFloorDivide:
      return divide_floor(left, right);
    case BinaryOperator::kModulo:
      return modulo(left, right);
    case BinaryOperator::kPower:
      return power(left, right);
  }
  return {};
}

Value add_texts(Budget& budget, const Text& left, const Text& right) {
  TextBuilder out(budget);
  const bool markup = left.markup() == Markup::kYes || right.markup() == Markup::kYes;
  for (const Text* part : {&left, &right}) {
    if (markup && part->markup() == Markup::kNo) {
      add_escaped(out, *part);
    } else {
      out.add(*part);
    }
  }
  if (markup) out.set_markup(Markup::kYes);
  return out.take();
}

Value add_sequences(Budget& budget, const Sequence& left, const Sequence& right) {
  budget.spend_bytes((left.items.size() + right.items.size()) * sizeof(Value));
  std::vector<Value> items = left.items;
  items.insert(items.end(), right.items.begin(), right.items.end());
  return make_sequence(budget, left.kind, std::move(items));
}

bool is_addable(const Value& value) {
  return value.is_sequence(SequenceKind::kList) || value.is_sequence(SequenceKind::kTuple);
}

Value repeat(Budget& budget, const Value& value, Integer count) {
  const size_t n_times = count < 0 ? 0 : static_cast<size_t>(count > INT32_MAX ? INT32_MAX : count);
  if (value.is_text()) {
    TextBuilder out(budget);
    out.repeat(*value.text(), n_times).set_markup(value.text()->markup());
    return out.take();
  }
  std::vector<Value> items;
  if (value.items().empty()) return make_sequence(budget, value.sequence()->kind, {});
  const size_t max_times = budget.limits().max_work_bytes / sizeof(Value) / value.items().size();
  budget.spend_bytes(std::min(n_times, max_times + 1) * value.items().size() * sizeof(Value));
  for (size_t i = 0; i < n_times; ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return make_sequence(budget, value.sequence()->kind, std::move(items));
}

Value apply_containers(Budget& budget, BinaryOperator operation, const Value& left, const Value& right) {
  if (operation == BinaryOperator::kAdd) {
    if (left.is_text() && right.is_text()) return add_texts(budget, *left.text(), *right.text());
    if (is_addable(left) && right.is(Kind::kSequence) && left.sequence()->kind == right.sequence()->kind) {
      return add_sequences(budget, *left.sequence(), *right.sequence());
    }
  }
  if (operation == BinaryOperator::kMultiply) {
    if ((left.is_text() || is_addable(left)) && right.is_integral()) return repeat(budget, left, right.integer());
    if ((right.is_text() || is_addable(right)) && left.is_integral()) return repeat(budget, right, left.integer());
  }
  if (operation == BinaryOperator::kModulo && left.is_text()) return printf_format(budget, *left.text(), right);
  refuse(operation, left, right);
}

}  // namespace

std::optional<BinaryOperator> find_product_operator(std::string_view symbol) {
  if (symbol == "*") return BinaryOperator::kMultiply;
  if (symbol == "/") return BinaryOperator::kDivide;
  if (symbol == "//") return BinaryOperator::kFloorDivide;
  if (symbol == "%") return BinaryOperator::kModulo;
  return std::nullopt;
}

Value apply(UnaryOperator operation, const Value& operand) {
  if (operation == UnaryOperator::kNot) return !is_true(operand);
  refuse_undefined(operand);
  if (!operand.is_number()) fail("unary sign: expected a number, found '{}'", type_name(operand));
  const bool minus = operation == UnaryOperator::kMinus;
  if (operand.is(Kind::kFloat)) return minus ? -operand.number() : operand.number();
  return minus ? apply_integers(BinaryOperator::kSubtract, 0, operand.integer()) : Value(operand.integer());
}

Value apply(Budget& budget, BinaryOperator operation, const Value& left, const Value& right) {
  refuse_undefined(left);
  const bool is_format = operation == BinaryOperator::kModulo && left.is_text();
  if (!is_format) refuse_undefined(right);
  if (left.is_integral() && right.is_integral()) return apply_integers(operation, left.integer(), right.integer());
  if (left.is_number() && right.is_number()) return apply_floats(operation, left.number(), right.number());
  return apply_containers(budget, operation, left, right);
}

}  // namespace ferrox::jinja
