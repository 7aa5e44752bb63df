// How does a macro take its arguments?
#include "text/jinja/macro.h"

#include <algorithm>

#include "text/jinja/interpreter.h"

namespace ferrox::jinja {
namespace {

const Value* find_named(const Arguments& arguments, std::string_view name) {
  const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  return found == arguments.named.end() ? nullptr : &found->second;
}

}  // namespace

bool MacroObject::has_parameter(std::string_view name) const {
  return std::any_of(definition_.parameters.begin(), definition_.parameters.end(),
                     [name](const MacroParameter& parameter) { return parameter.name == name; });
}

Value MacroObject::call(Interpreter& interpreter, const Arguments& arguments) {
  const DepthGuard depth(interpreter);
  const ScopeGuard guard(interpreter, std::make_shared<Scope>(outer_));
  bind(interpreter, arguments);
  return interpreter.capture([&] { interpreter.run(definition_.body); });
}

void MacroObject::bind(Interpreter& interpreter, const Arguments& arguments) const {
  for (size_t i = 0; i < definition_.parameters.size(); ++i) {
    const MacroParameter& parameter = definition_.parameters[i];
    const Value* named = find_named(arguments, parameter.name);
    if (i < arguments.positional.size()) {
      if (named != nullptr) fail("macro '{}' got its argument '{}' twice", definition_.name, parameter.name);
      interpreter.scope().set(parameter.name, arguments.positional[i]);
    } else if (named != nullptr) {
      interpreter.scope().set(parameter.name, *named);
    } else if (parameter.fallback) {
      interpreter.scope().set(parameter.name, interpreter.evaluate(*parameter.fallback));
    } else {
      interpreter.scope().set(parameter.name,
                              undefined_value(fmt::format("parameter '{}' was not provided", parameter.name)));
    }
  }
  bind_surplus_named(interpreter, arguments);
  bind_surplus_positional(interpreter, arguments);
}

void MacroObject::bind_surplus_positional(Interpreter& interpreter, const Arguments& arguments) const {
  const size_t n_parameters = definition_.parameters.size();
  std::vector<Value> surplus;
  if (arguments.positional.size() > n_parameters) {
    surplus.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(n_parameters),
                   arguments.positional.end());
  }
  if (definition_.uses_varargs) {
    interpreter.scope().set("varargs", make_tuple(interpreter.budget(), std::move(surplus)));
  } else if (!surplus.empty()) {
    fail("macro '{}' takes at most {} arguments, found {}", definition_.name, n_parameters,
         arguments.positional.size());
  }
}

void MacroObject::bind_surplus_named(Interpreter& interpreter, const Arguments& arguments) const {
  Dict surplus;
  for (const auto& [name, value] : arguments.named) {
    if (has_parameter(name)) continue;
    if (name == "caller" && definition_.uses_caller) {
      interpreter.scope().set(name, value);
    } else if (definition_.uses_kwargs) {
      surplus.set(data_text(name), value);  // `**x` may bring names that a caller wrote
    } else {
      fail("macro '{}' takes no argument '{}'", definition_.name, name);
    }
  }
  if (definition_.uses_kwargs) interpreter.scope().set("kwargs", make_dict(interpreter.budget(), std::move(surplus)));
  if (definition_.uses_caller && find_named(arguments, "caller") == nullptr && !has_parameter("caller")) {
    interpreter.scope().set("caller", undefined_value("no caller defined"));
  }
}

std::optional<Value> MacroObject::attribute(Interpreter& interpreter, std::string_view name) {
  if (name == "name") return template_text(definition_.name);
  if (name == "catch_kwargs") return definition_.uses_kwargs;
  if (name == "catch_varargs") return definition_.uses_varargs;
  if (name == "caller") return definition_.uses_caller;
  if (name != "arguments") return std::nullopt;
  std::vector<Value> names;
  for (const MacroParameter& parameter : definition_.parameters) names.push_back(template_text(parameter.name));
  return make_tuple(interpreter.budget(), std::move(names));
}

Value make_macro(Interpreter& interpreter, const MacroDefinition& definition) {
  interpreter.cut_at_end(interpreter.scope_pointer());
  return ObjectPtr(std::make_shared<MacroObject>(definition, interpreter.scope_pointer()));
}

}  // namespace ferrox::jinja
