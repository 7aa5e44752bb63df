// What do all nodes of a parsed template share?
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "text/jinja/failure.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

class Interpreter;

/// Something with a value. Interpreter::evaluate() is the way to ask for it: it watches depth, budget and place.
struct Expression {
  Position at;
  size_t height = 1;  ///< levels of expressions below and including this one; the parser bounds it

  virtual ~Expression() = default;
  virtual Value evaluate(Interpreter& interpreter) const = 0;
};
using ExpressionPtr = std::unique_ptr<const Expression>;

/// What a statement asks of the loop around it.
enum class Flow : uint8_t { kNext, kBreak, kContinue };

/// Something with an effect: output, a new name, control.
struct Statement {
  Position at;

  virtual ~Statement() = default;
  virtual Flow run(Interpreter& interpreter) const = 0;
};
using StatementPtr = std::unique_ptr<const Statement>;
using Block = std::vector<StatementPtr>;

/// Something that takes a value: a name, a tuple of targets, an attribute of a namespace.
struct Target {
  virtual ~Target() = default;
  virtual void assign(Interpreter& interpreter, Value value) const = 0;
};
using TargetPtr = std::unique_ptr<const Target>;

}  // namespace ferrox::jinja
