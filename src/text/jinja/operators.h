// What do the operators of the template language compute?
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "text/jinja/budget.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

enum class UnaryOperator : uint8_t { kNot, kMinus, kPlus };
enum class BinaryOperator : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
enum class ComparisonOperator : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

/// "==", "!=", "<", "<=", ">", ">="
std::optional<ComparisonOperator> find_comparison(std::string_view symbol);
/// "*", "/", "//", "%"
std::optional<BinaryOperator> find_product_operator(std::string_view symbol);

/// All fail as Python raises: on operands of the wrong type, on undefined ones, on division by zero; and on integers
/// beyond 127 bits.
Value apply(UnaryOperator operation, const Value& operand);
Value apply(Budget& budget, BinaryOperator operation, const Value& left, const Value& right);
bool compare(Budget& budget, ComparisonOperator operation, const Value& left, const Value& right);

bool equal(Budget& budget, const Value& left, const Value& right);
bool less(Budget& budget, const Value& left, const Value& right);
bool contains(Budget& budget, const Value& container, const Value& item);

/// Fails with the complaint of an undefined value.
void refuse_undefined(const Value& value);

}  // namespace ferrox::jinja
