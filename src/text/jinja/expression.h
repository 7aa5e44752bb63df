// Which kinds of expression are there?
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/builtin.h"
#include "text/jinja/node.h"
#include "text/jinja/operators.h"

namespace ferrox::jinja {

/// Arguments as written in a call, filter or test.
struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr unpacked;        ///< of `*x`
  ExpressionPtr unpacked_named;  ///< of `**x`

  Arguments evaluate(Interpreter& interpreter) const;
};

struct Constant final : Expression {
  Value value;
  Value evaluate(Interpreter&) const override { return value; }
};

struct Name final : Expression {
  std::string name;
  Value evaluate(Interpreter& interpreter) const override;
};

struct SequenceLiteral final : Expression {
  SequenceKind kind = SequenceKind::kList;
  std::vector<ExpressionPtr> items;
  Value evaluate(Interpreter& interpreter) const override;
};

struct DictLiteral final : Expression {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
  Value evaluate(Interpreter& interpreter) const override;
};

/// value.name
struct AttributeOf final : Expression {
  ExpressionPtr owner;
  std::string name;
  Value evaluate(Interpreter& interpreter) const override;
};

/// value[index]
struct ItemOf final : Expression {
  ExpressionPtr owner;
  ExpressionPtr index;
  Value evaluate(Interpreter& interpreter) const override;
};

/// value[start:stop:step]; absent parts are null.
struct SliceOf final : Expression {
  ExpressionPtr owner;
  ExpressionPtr start;
  ExpressionPtr stop;
  ExpressionPtr step;
  Value evaluate(Interpreter& interpreter) const override;
};

struct CallOf final : Expression {
  ExpressionPtr callee;
  CallArguments arguments;
  Value evaluate(Interpreter& interpreter) const override;
};

/// A filter or test by name. An unknown one fails only when it runs, so that templates may guard it with `if`.
struct FilterCall {
  Position at;
  std::string name;
  const Builtin* builtin = nullptr;
  CallArguments arguments;

  Value apply(Interpreter& interpreter, const Value& input) const;
};

struct Filtered final : Expression {
  ExpressionPtr input;
  FilterCall filter;
  Value evaluate(Interpreter& interpreter) const override;
};

struct Tested final : Expression {
  ExpressionPtr input;
  FilterCall test;
  Value evaluate(Interpreter& interpreter) const override;
};

struct Unary final : Expression {
  UnaryOperator operation = UnaryOperator::kNot;
  ExpressionPtr operand;
  Value evaluate(Interpreter& interpreter) const override;
};

struct Binary final : Expression {
  BinaryOperator operation = BinaryOperator::kAdd;
  ExpressionPtr left;
  ExpressionPtr right;
  Value evaluate(Interpreter& interpreter) const override;
};

/// left and right, left or right
struct Logical final : Expression {
  enum class Operation : uint8_t { kAnd, kOr };
  Operation operation = Operation::kAnd;
  ExpressionPtr left;
  ExpressionPtr right;
  Value evaluate(Interpreter& interpreter) const override;
};

/// a ~ b ~ c
struct Concatenation final : Expression {
  std::vector<ExpressionPtr> parts;
  Value evaluate(Interpreter& interpreter) const override;
};

/// a < b <= c
struct Comparison final : Expression {
  ExpressionPtr first;
  std::vector<std::pair<ComparisonOperator, ExpressionPtr>> rest;
  Value evaluate(Interpreter& interpreter) const override;
};

/// then if condition else otherwise; `otherwise` may be null.
struct Conditional final : Expression {
  ExpressionPtr condition;
  ExpressionPtr then;
  ExpressionPtr otherwise;
  Value evaluate(Interpreter& interpreter) const override;
};

}  // namespace ferrox::jinja
