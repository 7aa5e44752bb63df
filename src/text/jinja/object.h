// What is a value with behaviour: a macro, a namespace, `loop`, a function, a bound method?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace ferrox::jinja {

class Interpreter;

/// Arguments of a call as written: `f(a, b, key=c)`.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

class Object {
 public:
  virtual ~Object() = default;
  /// Python's type name, for messages.
  virtual std::string_view type_name() const = 0;
  virtual bool is_callable() const { return false; }
  /// Called only when is_callable().
  virtual Value call(Interpreter& interpreter, const Arguments& arguments);
  /// The attribute, or nothing when there is none of that name.
  virtual std::optional<Value> attribute(Interpreter& interpreter, std::string_view name);
  /// Levels of nested containers that the object keeps alive.
  virtual size_t depth() const { return 0; }
};

}  // namespace ferrox::jinja
