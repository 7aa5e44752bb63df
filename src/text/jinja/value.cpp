// What do Python's bool(), type() and nesting say about a value?
#include "text/jinja/value.h"

#include <array>

#include "text/jinja/dict.h"
#include "text/jinja/object.h"

namespace ferrox::jinja {
namespace {

constexpr std::array<std::string_view, 8> kSequenceNames = {"list",        "tuple",      "range",     "dict_keys",
                                                            "dict_values", "dict_items", "generator", "tuple"};

std::string_view object_type_name(const Value& value) { return value.object()->type_name(); }

}  // namespace

bool Value::is_sequence(SequenceKind wanted) const { return is(Kind::kSequence) && sequence()->kind == wanted; }

Value template_text(std::string bytes) { return Text(std::move(bytes), Origin::kTemplate); }

Value data_text(std::string bytes) { return Text(std::move(bytes), Origin::kData); }

Value undefined_value(std::string complaint) {
  return Undefined{std::make_shared<const std::string>(std::move(complaint))};
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInteger:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kText:
      return "str";
    case Kind::kSequence:
      return kSequenceNames[static_cast<size_t>(value.sequence()->kind)];
    case Kind::kDict:
      return "dict";
    case Kind::kObject:
      return object_type_name(value);
  }
  return "object";
}

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInteger:
      return value.integer() != 0;
    case Kind::kFloat:
      return value.number() != 0;
    case Kind::kText:
      return !value.text()->empty();
    case Kind::kSequence:
      return value.is_sequence(SequenceKind::kGenerator) || !value.items().empty();
    case Kind::kDict:
      return value.dict()->size() != 0;
    case Kind::kObject:
      return true;
  }
  return true;
}

size_t depth_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kSequence:
      return value.sequence()->depth;
    case Kind::kDict:
      return value.dict()->depth();
    case Kind::kObject:
      return value.object()->depth();
    default:
      return 0;
  }
}

}  // namespace ferrox::jinja
