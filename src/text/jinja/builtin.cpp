// How are arguments bound to the parameters of a built-in function?
#include "text/jinja/builtin.h"

#include <algorithm>

#include "text/jinja/interpreter.h"

namespace ferrox::jinja {

Call::Call(Interpreter& interpreter, const Builtin& builtin, const Value& self, const Arguments& arguments)
    : interpreter_(interpreter), budget_(interpreter.budget()), builtin_(builtin), self_(self) {
  bind_positional(arguments);
  bind_named(arguments);
  for (size_t i = 0; i < builtin.n_required; ++i) {
    if (!has(i)) fail("{}() is missing its argument '{}'", name(), builtin.parameters[i]);
  }
}

void Call::bind_positional(const Arguments& arguments) {
  const size_t n = n_parameters();
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < n) {
      given_[i] = &arguments.positional[i];
    } else if (builtin_.surplus == Builtin::Surplus::kPassed) {
      surplus_.positional.push_back(arguments.positional[i]);
    } else {
      fail("{}() takes at most {} arguments, found {}", name(), n, arguments.positional.size());
    }
  }
}

void Call::bind_named(const Arguments& arguments) {
  for (const auto& named : arguments.named) {
    const size_t i = parameter(named.first);
    if (i < Builtin::kMaxParameters) {
      if (has(i)) fail("{}() got its argument '{}' twice", name(), named.first);
      given_[i] = &named.second;
    } else if (builtin_.surplus == Builtin::Surplus::kPassed) {
      surplus_.named.push_back(named);
    } else {
      fail("{}() has no argument '{}'", name(), named.first);
    }
  }
}

size_t Call::n_parameters() const {
  const auto& all = builtin_.parameters;
  return static_cast<size_t>(std::find(all.begin(), all.end(), std::string_view()) - all.begin());
}

size_t Call::parameter(std::string_view wanted) const {
  const auto& all = builtin_.parameters;
  if (wanted.empty()) return Builtin::kMaxParameters;
  return static_cast<size_t>(std::find(all.begin(), all.end(), wanted) - all.begin());
}

Integer Call::integer(size_t i, Integer fallback) const {
  if (!has(i)) return fallback;
  if (!at(i).is_integral()) {
    fail("{}() argument '{}': expected int, found {}", name(), builtin_.parameters[i], type_name(at(i)));
  }
  return at(i).integer();
}

TextPtr Call::text(size_t i) const {
  if (!at(i).is_text()) {
    fail("{}() argument '{}': expected str, found {}", name(), builtin_.parameters[i], type_name(at(i)));
  }
  return at(i).text();
}

TextPtr Call::text(size_t i, std::string_view fallback) const {
  return has(i) ? text(i) : std::make_shared<const Text>(std::string(fallback), Origin::kTemplate);
}

Value BoundBuiltin::call(Interpreter& interpreter, const Arguments& arguments) {
  Call call(interpreter, builtin_, self_, arguments);
  return builtin_.function(call);
}

}  // namespace ferrox::jinja
