// Which tests may follow `is`?
#include "text/jinja/access.h"
#include "text/jinja/codepoint.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_text.h"
#include "text/jinja/tables.h"

namespace ferrox::jinja {
namespace {

template <Kind kind>
Value test_kind(Call& call) {
  return call.self().is(kind);
}

template <ComparisonOperator operation>
Value test_comparison(Call& call) {
  return compare(call.budget(), operation, call.self(), call.at(0));
}

template <bool wanted>
Value test_constant(Call& call) {
  return call.self().is(Kind::kBool) && call.self().boolean() == wanted;
}

Value remainder(Call& call, const Value& divisor) {
  return apply(call.budget(), BinaryOperator::kModulo, call.self(), divisor);
}

Value test_defined(Call& call) { return !call.self().is_undefined(); }
Value test_number(Call& call) { return call.self().is_number(); }
Value test_iterable(Call& call) { return is_iterable(call.self()); }
Value test_divisibleby(Call& call) { return !is_true(remainder(call, call.at(0))); }
Value test_even(Call& call) { return !is_true(remainder(call, Value(2))); }
Value test_odd(Call& call) { return equal(call.budget(), remainder(call, Value(2)), Value(1)); }
/// An undefined value claims to be callable; calling it tells that it is undefined.
Value test_callable(Call& call) {
  return call.self().is_undefined() || (call.self().is(Kind::kObject) && call.self().object()->is_callable());
}
Value test_escaped(Call& call) { return call.self().is_text() && call.self().text()->markup() == Markup::kYes; }
Value test_filter(Call& call) { return call.self().is_text() && find_filter(call.self().bytes()) != nullptr; }
Value test_test(Call& call) { return call.self().is_text() && find_test(call.self().bytes()) != nullptr; }

/// What has a length and takes an index; an undefined value claims both.
Value test_sequence(Call& call) {
  const Value& self = call.self();
  if (!self.is(Kind::kSequence)) return self.is_text() || self.is_dict() || self.is_undefined();
  const SequenceKind kind = self.sequence()->kind;
  return kind == SequenceKind::kList || kind == SequenceKind::kTuple || kind == SequenceKind::kRange ||
         kind == SequenceKind::kGroup;
}

Value test_sameas(Call& call) {
  const Value& self = call.self();
  const Value& other = call.at(0);
  if (self.kind() != other.kind()) return false;
  if (self.is(Kind::kSequence)) return self.sequence() == other.sequence();
  if (self.is_dict()) return self.dict() == other.dict();
  return equal(call.budget(), self, other);
}

/// What is printed has at least one cased character, and all of them are of that case.
Value is_in_case(Call& call, bool (*wanted)(char32_t), bool (*unwanted)(char32_t)) {
  const TextPtr text = to_text(call.budget(), call.self());
  call.budget().spend_bytes(text->size());
  bool found = false;
  for (size_t at = 0; at < text->size(); at += char_size(text->bytes(), at)) {
    if (unwanted(char_at(text->bytes(), at))) return false;
    found |= wanted(char_at(text->bytes(), at));
  }
  return found;
}

Value test_lower(Call& call) { return is_in_case(call, is_lower, is_upper); }
Value test_upper(Call& call) { return is_in_case(call, is_upper, is_lower); }

constexpr auto kEqual = test_comparison<ComparisonOperator::kEqual>;
constexpr auto kNotEqual = test_comparison<ComparisonOperator::kNotEqual>;
constexpr auto kLess = test_comparison<ComparisonOperator::kLess>;
constexpr auto kLessEqual = test_comparison<ComparisonOperator::kLessEqual>;
constexpr auto kGreater = test_comparison<ComparisonOperator::kGreater>;
constexpr auto kGreaterEqual = test_comparison<ComparisonOperator::kGreaterEqual>;

constexpr std::array kTests = {
    Builtin{"boolean", test_kind<Kind::kBool>},
    Builtin{"callable", test_callable},
    Builtin{"defined", test_defined},
    Builtin{"divisibleby", test_divisibleby, {"num"}, 1},
    Builtin{"==", kEqual, {"other"}, 1},
    Builtin{"eq", kEqual, {"other"}, 1},
    Builtin{"equalto", kEqual, {"other"}, 1},
    Builtin{"escaped", test_escaped},
    Builtin{"even", test_even},
    Builtin{"false", test_constant<false>},
    Builtin{"filter", test_filter},
    Builtin{"float", test_kind<Kind::kFloat>},
    Builtin{">=", kGreaterEqual, {"other"}, 1},
    Builtin{"ge", kGreaterEqual, {"other"}, 1},
    Builtin{">", kGreater, {"other"}, 1},
    Builtin{"gt", kGreater, {"other"}, 1},
    Builtin{"greaterthan", kGreater, {"other"}, 1},
    Builtin{"in", test_comparison<ComparisonOperator::kIn>, {"seq"}, 1},
    Builtin{"integer", test_kind<Kind::kInteger>},
    Builtin{"iterable", test_iterable},
    Builtin{"<=", kLessEqual, {"other"}, 1},
    Builtin{"le", kLessEqual, {"other"}, 1},
    Builtin{"lower", test_lower},
    Builtin{"<", kLess, {"other"}, 1},
    Builtin{"lt", kLess, {"other"}, 1},
    Builtin{"lessthan", kLess, {"other"}, 1},
    Builtin{"mapping", test_kind<Kind::kDict>},
    Builtin{"!=", kNotEqual, {"other"}, 1},
    Builtin{"ne", kNotEqual, {"other"}, 1},
    Builtin{"none", test_kind<Kind::kNone>},
    Builtin{"number", test_number},
    Builtin{"odd", test_odd},
    Builtin{"sameas", test_sameas, {"other"}, 1},
    Builtin{"sequence", test_sequence},
    Builtin{"string", test_kind<Kind::kText>},
    Builtin{"test", test_test},
    Builtin{"true", test_constant<true>},
    Builtin{"undefined", test_kind<Kind::kUndefined>},
    Builtin{"upper", test_upper},
};

}  // namespace

BuiltinTable all_tests() { return {kTests.data(), kTests.size()}; }

}  // namespace ferrox::jinja
