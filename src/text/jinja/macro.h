// What is a macro as a value?
#pragma once

#include "text/jinja/object.h"
#include "text/jinja/scope.h"
#include "text/jinja/statement.h"

namespace ferrox::jinja {

/// A macro, or the body of a call block, with the names it was defined among.
class MacroObject final : public Object {
 public:
  MacroObject(const MacroDefinition& definition, ScopePtr outer) : definition_(definition), outer_(std::move(outer)) {}

  std::string_view type_name() const override { return "Macro"; }
  bool is_callable() const override { return true; }
  /// Binds the arguments, runs the body, returns what it writes.
  Value call(Interpreter& interpreter, const Arguments& arguments) override;
  std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;

 private:
  void bind(Interpreter& interpreter, const Arguments& arguments) const;
  void bind_surplus_positional(Interpreter& interpreter, const Arguments& arguments) const;
  void bind_surplus_named(Interpreter& interpreter, const Arguments& arguments) const;
  bool has_parameter(std::string_view name) const;

  const MacroDefinition& definition_;
  ScopePtr outer_;
};

/// Makes the macro a value; the interpreter cuts the ring of scope and macro at its end.
Value make_macro(Interpreter& interpreter, const MacroDefinition& definition);

}  // namespace ferrox::jinja
