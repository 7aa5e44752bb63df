// How does a render find names, and how does it end?
#include "text/jinja/interpreter.h"

#include "text/jinja/builtin.h"
#include "text/jinja/json_value.h"

namespace ferrox::jinja {
namespace {

constexpr size_t kKeptBytes = 256;  // what a scope or namespace that lives to the end of the render is charged

}  // namespace

DepthGuard::DepthGuard(Interpreter& interpreter) : interpreter_(interpreter) {
  const size_t max_depth = interpreter.budget_.limits().max_depth;
  if (interpreter.depth_ >= max_depth) fail("template nests deeper than {} levels while it runs", max_depth);
  ++interpreter.depth_;
}

Interpreter::Interpreter(const Inputs& inputs, const Limits& limits)
    : inputs_(inputs), budget_(limits), scope_(std::make_shared<Scope>(nullptr)) {}

Interpreter::~Interpreter() {
  for (const ScopePtr& scope : kept_scopes_) scope->clear();
  for (const auto& object : namespaces_) object->clear();
}

Text Interpreter::render(const Block& block) {
  return capture([&] { run(block); });
}

Value Interpreter::evaluate(const Expression& expression) {
  const DepthGuard depth(*this);
  budget_.spend_steps(1);
  const Position before = std::exchange(position_, expression.at);
  Value value = expression.evaluate(*this);
  position_ = before;
  return value;
}

Flow Interpreter::run(const Block& block) {
  const DepthGuard depth(*this);
  for (const StatementPtr& statement : block) {
    budget_.spend_steps(1);
    position_ = statement->at;
    const Flow flow = statement->run(*this);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  if (callee.is_undefined()) fail("{}", *callee.undefined().complaint);
  if (!callee.is(Kind::kObject) || !callee.object()->is_callable()) {
    fail("'{}' object is not callable", type_name(callee));
  }
  const ObjectPtr object = callee.object();
  return object->call(*this, arguments);
}

Value Interpreter::lookup(std::string_view name) {
  if (const Value* value = scope_->find(name)) return *value;
  if (const auto found = converted_.find(name); found != converted_.end()) return found->second;
  Value value = find_input(name);
  converted_.emplace(name, value);
  return value;
}

Value Interpreter::find_input(std::string_view name) {
  for (const auto* variables : {&inputs_.trusted, &inputs_.data}) {
    if (!variables->is_object()) continue;
    const auto found = variables->find(std::string(name));
    const Origin origin = variables == &inputs_.trusted ? Origin::kTemplate : Origin::kData;
    if (found != variables->end()) return from_json(budget_, *found, origin);
  }
  if (const Builtin* global = find_global(name)) return ObjectPtr(std::make_shared<BoundBuiltin>(*global, Value()));
  return undefined_value(fmt::format("'{}' is undefined", name));
}

void Interpreter::cut_at_end(ScopePtr scope) {
  budget_.spend_bytes(kKeptBytes);
  kept_scopes_.push_back(std::move(scope));
}

void Interpreter::cut_at_end(std::shared_ptr<Namespace> object) {
  budget_.spend_bytes(kKeptBytes);
  namespaces_.push_back(std::move(object));
}

}  // namespace ferrox::jinja
