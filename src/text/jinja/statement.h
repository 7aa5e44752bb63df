// Which kinds of statement and assignment target are there?
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/expression.h"
#include "text/jinja/node.h"

namespace ferrox::jinja {

struct NameTarget final : Target {
  std::string name;
  void assign(Interpreter& interpreter, Value value) const override;
};

struct TupleTarget final : Target {
  std::vector<TargetPtr> targets;
  void assign(Interpreter& interpreter, Value value) const override;
};

struct NamespaceTarget final : Target {
  std::string name;
  std::string attribute;
  void assign(Interpreter& interpreter, Value value) const override;
};

/// Text between tags.
struct Data final : Statement {
  TextPtr text;
  Flow run(Interpreter& interpreter) const override;
};

/// {{ value }}
struct Print final : Statement {
  ExpressionPtr value;
  Flow run(Interpreter& interpreter) const override;
};

struct If final : Statement {
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block otherwise;
  Flow run(Interpreter& interpreter) const override;
};

struct For final : Statement {
  TargetPtr target;
  ExpressionPtr iterable;
  ExpressionPtr condition;  ///< of `for x in xs if condition`, or null
  enum class Recursion : uint8_t { kNo, kYes };
  Recursion recursion = Recursion::kNo;
  Block body;
  Block otherwise;

  Flow run(Interpreter& interpreter) const override;
  /// Runs over `items`; `depth0` counts the recursive loops around it.
  Flow run_over(Interpreter& interpreter, const Value& items, size_t depth0) const;
};

/// {% set target = value %}
struct Set final : Statement {
  TargetPtr target;
  ExpressionPtr value;
  Flow run(Interpreter& interpreter) const override;
};

/// {% set target | filters %} body {% endset %}
struct SetBlock final : Statement {
  TargetPtr target;
  std::vector<FilterCall> filters;
  Block body;
  Flow run(Interpreter& interpreter) const override;
};

/// {% filter filters %} body {% endfilter %}
struct FilterBlock final : Statement {
  std::vector<FilterCall> filters;
  Block body;
  Flow run(Interpreter& interpreter) const override;
};

struct MacroParameter {
  std::string name;
  ExpressionPtr fallback;  ///< or null
};

/// What macros and the bodies of call blocks are made of.
struct MacroDefinition {
  std::string name;
  std::vector<MacroParameter> parameters;
  Block body;
  bool uses_varargs = false;
  bool uses_kwargs = false;
  bool uses_caller = false;
};

struct Macro final : Statement {
  MacroDefinition definition;
  Flow run(Interpreter& interpreter) const override;
};

/// {% call(parameters) macro(arguments) %} body {% endcall %}
struct CallBlock final : Statement {
  MacroDefinition body;
  std::unique_ptr<const CallOf> call;
  Flow run(Interpreter& interpreter) const override;
};

/// {% with a = 1 %} body {% endwith %}; {% generation %} is one without names.
struct With final : Statement {
  std::vector<std::pair<TargetPtr, ExpressionPtr>> names;
  Block body;
  Flow run(Interpreter& interpreter) const override;
};

struct Jump final : Statement {
  Flow flow = Flow::kBreak;
  Flow run(Interpreter&) const override { return flow; }
};

}  // namespace ferrox::jinja
