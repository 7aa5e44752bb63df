// What can a template variable hold? Immutable shared values with Python's kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/text.h"

namespace ferrox::jinja {

class Dict;
class Object;
class Value;

/// Wide enough for every integer that JSON text of 64 bits, signed or not, can hold; overflow is an error.
__extension__ typedef __int128 Integer;

/// The value of a name or attribute that isn't there; using it (other than printing, testing, looping) fails with this
/// complaint.
struct Undefined {
  std::shared_ptr<const std::string> complaint;
};

struct None {};

/// Python's several ordered containers; a group is the tuple that `groupby` makes. They iterate alike and differ in how
/// they print and in what they allow.
enum class SequenceKind : uint8_t { kList, kTuple, kRange, kKeys, kValues, kItems, kGenerator, kGroup };

struct Sequence {
  SequenceKind kind;
  std::vector<Value> items;
  size_t depth = 1;               ///< levels of nested containers, this one included
  mutable bool consumed = false;  ///< a generator yields its items once
};

using TextPtr = std::shared_ptr<const Text>;
using SequencePtr = std::shared_ptr<const Sequence>;
using DictPtr = std::shared_ptr<const Dict>;
using ObjectPtr = std::shared_ptr<Object>;

/// Kinds in the order of Value's alternatives.
enum class Kind : uint8_t { kUndefined, kNone, kBool, kInteger, kFloat, kText, kSequence, kDict, kObject };

class Value {
 public:
  Value() = default;
  Value(None none) : storage_(none) {}
  Value(Undefined undefined) : storage_(std::move(undefined)) {}
  Value(bool value) : storage_(value) {}
  Value(Integer value) : storage_(value) {}
  Value(int64_t value) : storage_(static_cast<Integer>(value)) {}
  Value(size_t value) : storage_(static_cast<Integer>(value)) {}
  Value(int value) : storage_(static_cast<Integer>(value)) {}
  Value(double value) : storage_(value) {}
  Value(TextPtr text) : storage_(std::move(text)) {}
  Value(Text text) : storage_(std::make_shared<const Text>(std::move(text))) {}
  Value(SequencePtr sequence) : storage_(std::move(sequence)) {}
  Value(DictPtr dict) : storage_(std::move(dict)) {}
  Value(ObjectPtr object) : storage_(std::move(object)) {}
  Value(const char*) = delete;  // would become a bool; say whose text it is with template_text()

  Kind kind() const { return static_cast<Kind>(storage_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_undefined() const { return is(Kind::kUndefined); }
  bool is_none() const { return is(Kind::kNone); }
  bool is_text() const { return is(Kind::kText); }
  bool is_dict() const { return is(Kind::kDict); }
  bool is_sequence(SequenceKind kind) const;
  /// bool, integer or float: what arithmetic takes, as in Python.
  bool is_number() const { return is(Kind::kBool) || is(Kind::kInteger) || is(Kind::kFloat); }
  /// bool or integer.
  bool is_integral() const { return is(Kind::kBool) || is(Kind::kInteger); }

  const Undefined& undefined() const { return std::get<Undefined>(storage_); }
  bool boolean() const { return std::get<bool>(storage_); }
  Integer integer() const { return is(Kind::kBool) ? Integer{boolean()} : std::get<Integer>(storage_); }
  double number() const { return is(Kind::kFloat) ? std::get<double>(storage_) : static_cast<double>(integer()); }
  const TextPtr& text() const { return std::get<TextPtr>(storage_); }
  std::string_view bytes() const { return text()->bytes(); }
  const SequencePtr& sequence() const { return std::get<SequencePtr>(storage_); }
  const std::vector<Value>& items() const { return sequence()->items; }
  const DictPtr& dict() const { return std::get<DictPtr>(storage_); }
  const ObjectPtr& object() const { return std::get<ObjectPtr>(storage_); }

 private:
  std::variant<Undefined, None, bool, Integer, double, TextPtr, SequencePtr, DictPtr, ObjectPtr> storage_;
};

/// A string that the engine itself writes.
Value template_text(std::string bytes);
/// A string that a caller's variable brought.
Value data_text(std::string bytes);
/// An undefined value with the complaint it fails with when used.
Value undefined_value(std::string complaint);

/// Python's name of the value's type ("str", "dict", "NoneType", ...), for messages.
std::string_view type_name(const Value& value);
/// Python's bool(value).
bool is_true(const Value& value);
/// Levels of nested containers below and including the value; 0 for scalars.
size_t depth_of(const Value& value);

}  // namespace ferrox::jinja
