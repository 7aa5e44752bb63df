// How is a dotted path followed?
#include "text/jinja/attribute_path.h"

#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/number_text.h"
#include "text/jinja/text_case.h"

namespace ferrox::jinja {
namespace {

Value step_of(std::string_view part) {
  const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  const auto number = is_number ? parse_integer(part, 10) : std::nullopt;
  return number ? Value(*number) : template_text(std::string(part));
}

}  // namespace

Value follow_path(Interpreter& interpreter, const Value& item, const Value& path, const Value& fallback) {
  const auto follow = [&](const Value& owner, const Value& step) {
    Value found = get_item(interpreter, owner, step);
    return found.is_undefined() && !fallback.is_undefined() ? fallback : found;
  };
  if (!path.is_text()) return follow(item, path);
  Value value = item;
  std::string_view rest = path.bytes();
  interpreter.budget().spend_bytes(rest.size());
  while (true) {
    interpreter.budget().spend_steps(1);
    const size_t dot = std::min(rest.find('.'), rest.size());
    value = follow(value, step_of(rest.substr(0, dot)));
    if (dot == rest.size()) return value;
    rest.remove_prefix(dot + 1);
  }
}

Value sort_key(Interpreter& interpreter, const Value& item, const Value& path, CaseRule rule) {
  Value key = path.is_none() ? item : follow_path(interpreter, item, path, Value());
  if (rule == CaseRule::kKeep || !key.is_text()) return key;
  return to_lower(interpreter.budget(), *key.text());
}

}  // namespace ferrox::jinja
