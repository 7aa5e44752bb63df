// What does each kind of statement do?
#include "text/jinja/access.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/macro.h"
#include "text/jinja/python_text.h"
#include "text/jinja/statement.h"

namespace ferrox::jinja {
namespace {

Value apply_chain(Interpreter& interpreter, const std::vector<FilterCall>& filters, Value value) {
  for (const FilterCall& filter : filters) value = filter.apply(interpreter, value);
  return value;
}

/// What a body writes, when it runs with names of its own.
Value capture_scoped(Interpreter& interpreter, const Block& body) {
  const ScopeGuard guard(interpreter, std::make_shared<Scope>(interpreter.scope_pointer()));
  return interpreter.capture([&] { interpreter.run(body); });
}

}  // namespace

void NameTarget::assign(Interpreter& interpreter, Value value) const {
  interpreter.scope().set(name, std::move(value));
}

void TupleTarget::assign(Interpreter& interpreter, Value value) const {
  if (!is_iterable(value)) fail("cannot unpack non-iterable '{}' object", type_name(value));
  const SequencePtr parts = iterate(interpreter, value);
  if (parts->items.size() != targets.size()) {
    fail("expected {} values to unpack, found {}", targets.size(), parts->items.size());
  }
  for (size_t i = 0; i < targets.size(); ++i) targets[i]->assign(interpreter, parts->items[i]);
}

void NamespaceTarget::assign(Interpreter& interpreter, Value value) const {
  const Value owner = interpreter.lookup(name);
  auto* object = owner.is(Kind::kObject) ? dynamic_cast<Namespace*>(owner.object().get()) : nullptr;
  if (object == nullptr) fail("cannot assign attribute '{}' on non-namespace object '{}'", attribute, name);
  object->set(attribute, std::move(value));
}

Flow Data::run(Interpreter& interpreter) const {
  interpreter.write(*text);
  return Flow::kNext;
}

Flow Print::run(Interpreter& interpreter) const {
  interpreter.write(*to_text(interpreter.budget(), interpreter.evaluate(*value)));
  return Flow::kNext;
}

Flow If::run(Interpreter& interpreter) const {
  for (const auto& [condition, block] : branches) {
    if (is_true(interpreter.evaluate(*condition))) return interpreter.run(block);
  }
  return interpreter.run(otherwise);
}

Flow Set::run(Interpreter& interpreter) const {
  target->assign(interpreter, interpreter.evaluate(*value));
  return Flow::kNext;
}

Flow SetBlock::run(Interpreter& interpreter) const {
  target->assign(interpreter, apply_chain(interpreter, filters, capture_scoped(interpreter, body)));
  return Flow::kNext;
}

Flow FilterBlock::run(Interpreter& interpreter) const {
  const Value value = apply_chain(interpreter, filters, capture_scoped(interpreter, body));
  interpreter.write(*to_text(interpreter.budget(), value));
  return Flow::kNext;
}

Flow Macro::run(Interpreter& interpreter) const {
  interpreter.scope().set(definition.name, make_macro(interpreter, definition));
  return Flow::kNext;
}

Flow CallBlock::run(Interpreter& interpreter) const {
  const Value function = interpreter.evaluate(*call->callee);
  Arguments arguments = call->arguments.evaluate(interpreter);
  arguments.named.emplace_back("caller", make_macro(interpreter, body));
  interpreter.move_to(at);
  interpreter.write(*to_text(interpreter.budget(), interpreter.call(function, arguments)));
  return Flow::kNext;
}

Flow With::run(Interpreter& interpreter) const {
  std::vector<Value> values;
  for (const auto& entry : names) values.push_back(interpreter.evaluate(*entry.second));
  const ScopeGuard guard(interpreter, std::make_shared<Scope>(interpreter.scope_pointer()));
  for (size_t i = 0; i < names.size(); ++i) names[i].first->assign(interpreter, std::move(values[i]));
  return interpreter.run(body);
}

}  // namespace ferrox::jinja
