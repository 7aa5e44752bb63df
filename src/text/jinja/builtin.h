// How does a filter, test, method or global function written in C++ take its arguments?
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/jinja/build.h"
#include "text/jinja/object.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

class Call;

/// One row of a table of functions. `self` of the call is the filtered or tested value, or the method's owner.
struct Builtin {
  /// What becomes of arguments beyond the parameters.
  enum class Surplus : uint8_t { kRefused, kPassed };
  static constexpr size_t kMaxParameters = 5;

  std::string_view name;
  Value (*function)(Call& call);
  std::array<std::string_view, kMaxParameters> parameters{};  ///< names, in order; unused ones are empty
  size_t n_required = 0;                                      ///< how many of them must be given
  Surplus surplus = Surplus::kRefused;
};

/// Rows of one table.
struct BuiltinTable {
  const Builtin* rows;
  size_t n_rows;

  const Builtin* begin() const { return rows; }
  const Builtin* end() const { return rows + n_rows; }
};

/// Lookup by name over all tables; null for an unknown name.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
const Builtin* find_global(std::string_view name);
/// A method of the value's type. `is_mutating` methods of Python's types are known but never given out.
const Builtin* find_method(const Value& owner, std::string_view name);
bool is_mutating_method(const Value& owner, std::string_view name);

/// One call of a Builtin: arguments bound to its parameters, read with defaults.
class Call {
 public:
  /// Binds; fails on missing, doubled, unknown or too many arguments.
  Call(Interpreter& interpreter, const Builtin& builtin, const Value& self, const Arguments& arguments);

  Interpreter& interpreter() { return interpreter_; }
  Budget& budget() { return budget_; }
  const Value& self() const { return self_; }
  std::string_view name() const { return builtin_.name; }

  /// Was parameter `i` given?
  bool has(size_t i) const { return given_[i] != nullptr; }
  /// Parameter `i`, which was given.
  const Value& at(size_t i) const { return *given_[i]; }
  Value at_or(size_t i, Value fallback) const { return has(i) ? at(i) : std::move(fallback); }
  bool flag(size_t i, bool fallback) const { return has(i) ? is_true(at(i)) : fallback; }
  /// Fails unless the parameter is a number without fraction.
  Integer integer(size_t i, Integer fallback) const;
  /// Fails unless the parameter is a string.
  TextPtr text(size_t i) const;
  TextPtr text(size_t i, std::string_view fallback) const;

  /// Arguments beyond the parameters.
  const Arguments& surplus() const { return surplus_; }

 private:
  void bind_positional(const Arguments& arguments);
  void bind_named(const Arguments& arguments);
  size_t parameter(std::string_view name) const;
  size_t n_parameters() const;

  Interpreter& interpreter_;
  Budget& budget_;
  const Builtin& builtin_;
  const Value& self_;
  std::array<const Value*, Builtin::kMaxParameters> given_{};
  Arguments surplus_;
};

/// A Builtin as a value: a global function, or a method bound to its owner.
class BoundBuiltin final : public Object {
 public:
  BoundBuiltin(const Builtin& builtin, Value self) : builtin_(builtin), self_(std::move(self)) {}

  std::string_view type_name() const override { return "builtin_function_or_method"; }
  bool is_callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override;
  size_t depth() const override { return depth_of(self_) + 1; }

 private:
  const Builtin& builtin_;
  Value self_;
};

}  // namespace ferrox::jinja
