// Who runs the nodes of a template: names, output, limits, and the place of the running node?
#pragma once

#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/jinja/budget.h"
#include "text/jinja/build.h"
#include "text/jinja/namespace_object.h"
#include "text/jinja/node.h"
#include "text/jinja/object.h"
#include "text/jinja/scope.h"

namespace ferrox::jinja {

/// What a render is given from outside.
struct Inputs {
  const nlohmann::ordered_json& data;     ///< the caller's variables
  const nlohmann::ordered_json& trusted;  ///< variables whose strings count as the template's; they win
  std::tm now{};                          ///< local time of strftime_now()
};

class Interpreter {
 public:
  Interpreter(const Inputs& inputs, const Limits& limits);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Runs a whole template. Throws Failure.
  Text render(const Block& block);

  Value evaluate(const Expression& expression);
  Flow run(const Block& block);
  Value call(const Value& callee, const Arguments& arguments);

  /// A name's value: the scopes, then the inputs, then global functions; undefined otherwise.
  Value lookup(std::string_view name);
  Scope& scope() { return *scope_; }
  const ScopePtr& scope_pointer() const { return scope_; }

  void write(const Text& text) { output_->add(text); }
  /// What `body(*this)` writes, as a text.
  template <class Body>
  Text capture(Body&& body) {
    TextBuilder text(budget_);
    TextBuilder* outer = std::exchange(output_, &text);
    body();
    output_ = outer;
    return text.take();
  }

  Budget& budget() { return budget_; }
  const std::tm& now() const { return inputs_.now; }
  Position position() const { return position_; }
  void move_to(Position position) { position_ = position; }

  /// A scope that a value keeps (a macro's) would keep that value too: the interpreter cuts such rings at its end.
  void cut_at_end(ScopePtr scope);
  void cut_at_end(std::shared_ptr<Namespace> object);

 private:
  friend class ScopeGuard;
  friend class DepthGuard;
  Value find_input(std::string_view name);

  Inputs inputs_;
  Budget budget_;
  std::map<std::string, Value, std::less<>> converted_;  // inputs that were asked for
  ScopePtr scope_;
  TextBuilder* output_ = nullptr;
  Position position_;
  size_t depth_ = 0;
  std::vector<ScopePtr> kept_scopes_;
  std::vector<std::shared_ptr<Namespace>> namespaces_;
};

/// Makes a scope the current one for its lifetime.
class ScopeGuard {
 public:
  ScopeGuard(Interpreter& interpreter, ScopePtr scope)
      : interpreter_(interpreter), before_(std::exchange(interpreter.scope_, std::move(scope))) {}
  ~ScopeGuard() { interpreter_.scope_ = std::move(before_); }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Interpreter& interpreter_;
  ScopePtr before_;
};

/// Counts one level of nodes within nodes for its lifetime; fails beyond the limit.
class DepthGuard {
 public:
  explicit DepthGuard(Interpreter& interpreter);
  ~DepthGuard() { --interpreter_.depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Interpreter& interpreter_;
};

}  // namespace ferrox::jinja
