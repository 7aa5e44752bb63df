// What is the value of each kind of expression?
#include "text/jinja/access.h"
#include "text/jinja/expression.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/python_text.h"

namespace ferrox::jinja {
namespace {

void unpack_named(const Value& value, Arguments& arguments) {
  if (!value.is_dict()) fail("argument after ** : expected a dict, found '{}'", type_name(value));
  for (const auto& [key, item] : value.dict()->entries()) {
    if (!key.is_text()) fail("argument after ** : expected string keys, found '{}'", type_name(key));
    arguments.named.emplace_back(key.bytes(), item);
  }
}

}  // namespace

Arguments CallArguments::evaluate(Interpreter& interpreter) const {
  Arguments result;
  for (const auto& argument : positional) result.positional.push_back(interpreter.evaluate(*argument));
  for (const auto& [name, argument] : named) result.named.emplace_back(name, interpreter.evaluate(*argument));
  if (unpacked) {
    const SequencePtr items = iterate(interpreter, interpreter.evaluate(*unpacked));
    interpreter.budget().spend_bytes(items->items.size() * sizeof(Value));
    result.positional.insert(result.positional.end(), items->items.begin(), items->items.end());
  }
  if (unpacked_named) unpack_named(interpreter.evaluate(*unpacked_named), result);
  return result;
}

Value Name::evaluate(Interpreter& interpreter) const { return interpreter.lookup(name); }

Value SequenceLiteral::evaluate(Interpreter& interpreter) const {
  std::vector<Value> values;
  values.reserve(items.size());
  for (const auto& item : items) values.push_back(interpreter.evaluate(*item));
  return make_sequence(interpreter.budget(), kind, std::move(values));
}

Value DictLiteral::evaluate(Interpreter& interpreter) const {
  Dict dict;
  for (const auto& [key, value] : entries) {
    Value evaluated_key = interpreter.evaluate(*key);
    if (evaluated_key.is_text()) interpreter.budget().spend_bytes(evaluated_key.text()->size());
    dict.set(std::move(evaluated_key), interpreter.evaluate(*value));
  }
  return make_dict(interpreter.budget(), std::move(dict));
}

Value AttributeOf::evaluate(Interpreter& interpreter) const {
  return get_attribute(interpreter, interpreter.evaluate(*owner), name);
}

Value ItemOf::evaluate(Interpreter& interpreter) const {
  const Value from = interpreter.evaluate(*owner);
  return get_item(interpreter, from, interpreter.evaluate(*index));
}

Value SliceOf::evaluate(Interpreter& interpreter) const {
  const auto part = [&interpreter](const ExpressionPtr& expression) {
    return expression ? interpreter.evaluate(*expression) : Value(None{});
  };
  const Value from = interpreter.evaluate(*owner);
  const Value first = part(start);
  const Value last = part(stop);
  return get_slice(interpreter, from, first, last, part(step));
}

Value CallOf::evaluate(Interpreter& interpreter) const {
  const Value function = interpreter.evaluate(*callee);
  return interpreter.call(function, arguments.evaluate(interpreter));
}

Value FilterCall::apply(Interpreter& interpreter, const Value& input) const {
  interpreter.move_to(at);
  if (builtin == nullptr) fail("no filter or test is named '{}'", name);
  const Arguments evaluated = arguments.evaluate(interpreter);
  Call call(interpreter, *builtin, input, evaluated);
  return builtin->function(call);
}

Value Filtered::evaluate(Interpreter& interpreter) const {
  return filter.apply(interpreter, interpreter.evaluate(*input));
}

Value Tested::evaluate(Interpreter& interpreter) const {
  return is_true(test.apply(interpreter, interpreter.evaluate(*input)));
}

Value Unary::evaluate(Interpreter& interpreter) const {
  return jinja::apply(operation, interpreter.evaluate(*operand));
}

Value Binary::evaluate(Interpreter& interpreter) const {
  const Value first = interpreter.evaluate(*left);
  const Value second = interpreter.evaluate(*right);
  return jinja::apply(interpreter.budget(), operation, first, second);
}

Value Logical::evaluate(Interpreter& interpreter) const {
  Value first = interpreter.evaluate(*left);
  const bool decided = is_true(first) == (operation == Operation::kOr);
  return decided ? first : interpreter.evaluate(*right);
}

Value Concatenation::evaluate(Interpreter& interpreter) const {
  TextBuilder out(interpreter.budget());
  for (const auto& part : parts) out.add(*to_text(interpreter.budget(), interpreter.evaluate(*part)));
  return out.take();
}

Value Comparison::evaluate(Interpreter& interpreter) const {
  Value left = interpreter.evaluate(*first);
  for (const auto& [operation, expression] : rest) {
    Value right = interpreter.evaluate(*expression);
    if (!compare(interpreter.budget(), operation, left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Conditional::evaluate(Interpreter& interpreter) const {
  if (is_true(interpreter.evaluate(*condition))) return interpreter.evaluate(*then);
  if (otherwise) return interpreter.evaluate(*otherwise);
  return undefined_value("the inline if-expression evaluated to false and has no else");
}

}  // namespace ferrox::jinja
