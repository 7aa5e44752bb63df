// When are two values equal, and which comes first?
#include <algorithm>
#include <array>

#include "text/jinja/dict.h"
#include "text/jinja/object.h"
#include "text/jinja/operators.h"

namespace ferrox::jinja {
namespace {

/// In the order of ComparisonOperator.
constexpr std::array<std::string_view, 6> kSymbols = {"==", "!=", "<", "<=", ">", ">="};

enum class Order : int8_t { kLess = -1, kEqual = 0, kGreater = 1, kUnordered = 2 };

template <class T>
Order order_of(const T& left, const T& right) {
  if (left < right) return Order::kLess;
  if (right < left) return Order::kGreater;
  return left == right ? Order::kEqual : Order::kUnordered;
}

SequenceKind comparable_kind(const Value& value) {
  const SequenceKind kind = value.sequence()->kind;
  return kind == SequenceKind::kGroup ? SequenceKind::kTuple : kind;
}

bool equal_items(Budget& budget, const Value& left, const Value& right) {
  if (comparable_kind(left) != comparable_kind(right)) return false;
  if (left.is_sequence(SequenceKind::kGenerator)) return left.sequence() == right.sequence();
  return std::equal(left.items().begin(), left.items().end(), right.items().begin(), right.items().end(),
                    [&budget](const Value& a, const Value& b) { return equal(budget, a, b); });
}

bool equal_dicts(Budget& budget, const Dict& left, const Dict& right) {
  if (left.size() != right.size()) return false;
  return std::all_of(left.entries().begin(), left.entries().end(), [&](const Dict::Entry& entry) {
    const Value* other = right.find(entry.first);
    return other != nullptr && equal(budget, entry.second, *other);
  });
}

Order order(Budget& budget, ComparisonOperator operation, const Value& left, const Value& right);

Order order_items(Budget& budget, ComparisonOperator operation, const Value& left, const Value& right) {
  const size_t n = std::min(left.items().size(), right.items().size());
  for (size_t i = 0; i < n; ++i) {
    if (!equal(budget, left.items()[i], right.items()[i])) {
      return order(budget, operation, left.items()[i], right.items()[i]);
    }
  }
  return order_of(left.items().size(), right.items().size());
}

bool is_ordered_sequence(const Value& value) {
  if (!value.is(Kind::kSequence)) return false;
  return comparable_kind(value) == SequenceKind::kList || comparable_kind(value) == SequenceKind::kTuple;
}

Order order(Budget& budget, ComparisonOperator operation, const Value& left, const Value& right) {
  refuse_undefined(left);
  refuse_undefined(right);
  budget.spend_steps(1);
  if (left.is_integral() && right.is_integral()) return order_of(left.integer(), right.integer());
  if (left.is_number() && right.is_number()) return order_of(left.number(), right.number());
  if (left.is_text() && right.is_text()) {
    budget.spend_bytes(std::min(left.text()->size(), right.text()->size()));
    return order_of(left.bytes(), right.bytes());
  }
  if (is_ordered_sequence(left) && is_ordered_sequence(right) && comparable_kind(left) == comparable_kind(right)) {
    return order_items(budget, operation, left, right);
  }
  fail("'{}' not supported between instances of '{}' and '{}'", kSymbols[static_cast<size_t>(operation)],
       type_name(left), type_name(right));
}

bool contains_text(Budget& budget, const Value& container, const Value& item) {
  refuse_undefined(item);
  if (!item.is_text()) fail("'in <string>': expected a string as left operand, found '{}'", type_name(item));
  budget.spend_bytes(container.text()->size());
  return container.bytes().find(item.bytes()) != std::string_view::npos;
}

bool contains_item(Budget& budget, const Sequence& sequence, const Value& item) {
  if (sequence.kind == SequenceKind::kGenerator && std::exchange(sequence.consumed, true)) return false;
  return std::any_of(sequence.items.begin(), sequence.items.end(),
                     [&](const Value& other) { return equal(budget, other, item); });
}

}  // namespace

std::optional<ComparisonOperator> find_comparison(std::string_view symbol) {
  const auto found = std::find(kSymbols.begin(), kSymbols.end(), symbol);
  if (found == kSymbols.end()) return std::nullopt;
  return static_cast<ComparisonOperator>(found - kSymbols.begin());
}

void refuse_undefined(const Value& value) {
  if (value.is_undefined())
    fail("{}", value.undefined().complaint ? *value.undefined().complaint : "value is undefined");
}

bool equal(Budget& budget, const Value& left, const Value& right) {
  budget.spend_steps(1);
  if (left.is_number() && right.is_number()) {
    if (left.is_integral() && right.is_integral()) return left.integer() == right.integer();
    return left.number() == right.number();
  }
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kText:
      if (left.text()->size() != right.text()->size()) return false;
      budget.spend_bytes(left.text()->size());
      return left.bytes() == right.bytes();
    case Kind::kSequence:
      return left.sequence() == right.sequence() || equal_items(budget, left, right);
    case Kind::kDict:
      return left.dict() == right.dict() || equal_dicts(budget, *left.dict(), *right.dict());
    case Kind::kObject:
      return left.object() == right.object();
    default:
      return false;
  }
}

bool less(Budget& budget, const Value& left, const Value& right) {
  return order(budget, ComparisonOperator::kLess, left, right) == Order::kLess;
}

bool contains(Budget& budget, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kUndefined:
      return false;
    case Kind::kText:
      return contains_text(budget, container, item);
    case Kind::kSequence:
      return contains_item(budget, *container.sequence(), item);
    case Kind::kDict:
      if (item.is_undefined()) return false;
      if (!is_hashable(item)) fail("unhashable type: '{}'", type_name(item));
      if (item.is_text()) budget.spend_bytes(item.text()->size());
      return container.dict()->find(item) != nullptr;
    default:
      fail("argument of type '{}' is not iterable", type_name(container));
  }
}

bool compare(Budget& budget, ComparisonOperator operation, const Value& left, const Value& right) {
  switch (operation) {
    case ComparisonOperator::kEqual:
      return equal(budget, left, right);
    case ComparisonOperator::kNotEqual:
      return !equal(budget, left, right);
    case ComparisonOperator::kIn:
      return contains(budget, right, left);
    case ComparisonOperator::kNotIn:
      return !contains(budget, right, left);
    default:
      break;
  }
  const Order found = order(budget, operation, left, right);
  switch (operation) {
    case ComparisonOperator::kLess:
      return found == Order::kLess;
    case ComparisonOperator::kLessEqual:
      return found == Order::kLess || found == Order::kEqual;
    case ComparisonOperator::kGreater:
      return found == Order::kGreater;
    default:
      return found == Order::kGreater || found == Order::kEqual;
  }
}

}  // namespace ferrox::jinja
