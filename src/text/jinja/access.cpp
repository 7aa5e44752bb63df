// In which order are items, attributes and methods looked for?
#include "text/jinja/access.h"

#include <algorithm>

#include "text/jinja/build.h"
#include "text/jinja/builtin.h"
#include "text/jinja/codepoint.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_text.h"

namespace ferrox::jinja {
namespace {

Value missing_attribute(const Value& owner, std::string_view name) {
  if (owner.is_none()) return undefined_value(fmt::format("'None' has no attribute '{}'", name));
  return undefined_value(fmt::format("'{} object' has no attribute '{}'", type_name(owner), name));
}

Value missing_item(Interpreter& interpreter, const Value& owner, const Value& index) {
  if (index.is_text()) return missing_attribute(owner, index.bytes());
  TextBuilder shown(interpreter.budget());
  add_repr(interpreter.budget(), shown, index);
  return undefined_value(fmt::format("{} object has no element {}", type_name(owner), shown.take().bytes()));
}

std::optional<Value> group_part(const Value& owner, std::string_view name) {
  if (!owner.is_sequence(SequenceKind::kGroup)) return std::nullopt;
  if (name == "grouper") return owner.items()[0];
  if (name == "list") return owner.items()[1];
  return std::nullopt;
}

/// A method or attribute of the value's type, or nothing.
std::optional<Value> find_attribute(Interpreter& interpreter, const Value& owner, std::string_view name) {
  if (owner.is(Kind::kObject)) return owner.object()->attribute(interpreter, name);
  if (const Builtin* method = find_method(owner, name)) {
    return ObjectPtr(std::make_shared<BoundBuiltin>(*method, owner));
  }
  if (is_mutating_method(owner, name)) {
    return undefined_value(fmt::format("access to attribute '{}' of '{}' object is unsafe: a template can't change it",
                                       name, type_name(owner)));
  }
  return group_part(owner, name);
}

const Value* find_dict_item(Interpreter& interpreter, const Dict& dict, const Value& key) {
  if (key.is_text()) interpreter.budget().spend_bytes(key.text()->size());
  return dict.find(key);
}

bool is_subscriptable(const Value& value) {
  if (value.is_text()) return true;
  if (!value.is(Kind::kSequence)) return false;
  const SequenceKind kind = value.sequence()->kind;
  return kind == SequenceKind::kList || kind == SequenceKind::kTuple || kind == SequenceKind::kRange ||
         kind == SequenceKind::kGroup;
}

/// The place of Python index `index` among `size`; nothing when it is outside.
std::optional<size_t> place_of(Integer index, size_t size) {
  if (index < 0) index += static_cast<Integer>(size);
  if (index < 0 || index >= static_cast<Integer>(size)) return std::nullopt;
  return static_cast<size_t>(index);
}

std::optional<Value> find_character(Interpreter& interpreter, const Text& text, Integer index) {
  interpreter.budget().spend_bytes(text.size());
  const auto place = place_of(index, count_chars(text.bytes()));
  if (!place) return std::nullopt;
  const size_t at = byte_of_char(text.bytes(), *place);
  return slice_text(interpreter.budget(), text, at, at + char_size(text.bytes(), at));
}

std::optional<Value> find_place(Interpreter& interpreter, const Value& owner, Integer index) {
  if (owner.is_text()) return find_character(interpreter, *owner.text(), index);
  const auto place = place_of(index, owner.items().size());
  return place ? std::optional(owner.items()[*place]) : std::nullopt;
}

/// Python's slice bounds over `size` items.
struct Steps {
  Integer start;
  Integer stop;
  Integer step;
};

bool is_slice_part(const Value& part) { return part.is_none() || part.is_integral(); }

Steps clip(const Value& start, const Value& stop, const Value& step, size_t size) {
  const Integer n = static_cast<Integer>(size);
  Steps steps{};
  steps.step = step.is_none() ? 1 : std::clamp<Integer>(step.integer(), -n - 1, n + 1);
  if (steps.step == 0) fail("slice step is zero");
  const Integer lowest = steps.step > 0 ? 0 : -1;
  const Integer highest = steps.step > 0 ? n : n - 1;
  const auto place = [&](const Value& part, Integer fallback) {
    if (part.is_none()) return fallback;
    const Integer index = part.integer();
    return std::clamp(index < 0 ? index + n : index, lowest, highest);
  };
  steps.start = place(start, steps.step > 0 ? lowest : highest);
  steps.stop = place(stop, steps.step > 0 ? highest : lowest);
  return steps;
}

/// Calls visit(place) for each place of the slice.
template <class Visit>
void for_each_place(const Steps& steps, Visit&& visit) {
  for (Integer i = steps.start; steps.step > 0 ? i < steps.stop : i > steps.stop; i += steps.step) {
    visit(static_cast<size_t>(i));
  }
}

Value slice_characters(Interpreter& interpreter, const Text& text, const Value& start, const Value& stop,
                       const Value& step) {
  Budget& budget = interpreter.budget();
  budget.spend_bytes(text.size());
  const std::string_view bytes = text.bytes();
  const Steps steps = clip(start, stop, step, count_chars(bytes));
  if (steps.step == 1) {
    const size_t begin = byte_of_char(bytes, static_cast<size_t>(steps.start));
    const size_t n_chars = static_cast<size_t>(std::max<Integer>(steps.stop - steps.start, 0));
    return slice_text(budget, text, begin, begin + byte_of_char(bytes.substr(begin), n_chars));
  }
  budget.spend_bytes(text.size() * sizeof(size_t));
  std::vector<size_t> starts;
  for (size_t at = 0; at < bytes.size(); at += char_size(bytes, at)) starts.push_back(at);
  TextBuilder out(budget);
  for_each_place(steps, [&](size_t i) { out.add(text, starts[i], starts[i] + char_size(bytes, starts[i])); });
  out.set_markup(text.markup());
  return out.take();
}

SequencePtr list_of(Interpreter& interpreter, std::vector<Value> items) {
  return make_list(interpreter.budget(), std::move(items)).sequence();
}

SequencePtr characters_of(Interpreter& interpreter, const Text& text) {
  std::vector<Value> items;
  const std::string_view bytes = text.bytes();
  interpreter.budget().spend_bytes(bytes.size() * sizeof(Value));
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = at + char_size(bytes, at);
    items.push_back(slice_text(interpreter.budget(), text, at, end));
    at = end;
  }
  return list_of(interpreter, std::move(items));
}

SequencePtr keys_of(Interpreter& interpreter, const Dict& dict) {
  std::vector<Value> keys;
  keys.reserve(dict.size());
  for (const auto& entry : dict.entries()) keys.push_back(entry.first);
  return list_of(interpreter, std::move(keys));
}

}  // namespace

Value get_attribute(Interpreter& interpreter, const Value& owner, std::string_view name) {
  refuse_undefined(owner);
  if (auto found = find_attribute(interpreter, owner, name)) return *std::move(found);
  if (owner.is_dict()) {
    if (const Value* item = owner.dict()->find(name)) return *item;
  }
  return missing_attribute(owner, name);
}

Value get_item(Interpreter& interpreter, const Value& owner, const Value& index) {
  refuse_undefined(owner);
  if (owner.is_dict()) {
    if (const Value* item = find_dict_item(interpreter, *owner.dict(), index)) return *item;
  } else if (is_subscriptable(owner) && index.is_integral()) {
    if (auto item = find_place(interpreter, owner, index.integer())) return *std::move(item);
  }
  if (index.is_text()) {
    if (auto found = find_attribute(interpreter, owner, index.bytes())) return *std::move(found);
  }
  return missing_item(interpreter, owner, index);
}

Value get_slice(Interpreter& interpreter, const Value& owner, const Value& start, const Value& stop,
                const Value& step) {
  refuse_undefined(owner);
  if (!is_slice_part(start) || !is_slice_part(stop) || !is_slice_part(step)) fail("slice: expected integers or none");
  if (owner.is_text()) return slice_characters(interpreter, *owner.text(), start, stop, step);
  if (!is_subscriptable(owner)) fail("'{}' object can't be sliced", type_name(owner));
  std::vector<Value> items;
  const Steps steps = clip(start, stop, step, owner.items().size());
  interpreter.budget().spend_bytes(owner.items().size() * sizeof(Value));
  for_each_place(steps, [&](size_t i) { items.push_back(owner.items()[i]); });
  return make_sequence(interpreter.budget(), owner.sequence()->kind, std::move(items));
}

SequencePtr iterate(Interpreter& interpreter, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return list_of(interpreter, {});
    case Kind::kText:
      return characters_of(interpreter, *value.text());
    case Kind::kDict:
      return keys_of(interpreter, *value.dict());
    case Kind::kSequence:
      if (value.is_sequence(SequenceKind::kGenerator) && std::exchange(value.sequence()->consumed, true)) {
        return list_of(interpreter, {});
      }
      return value.sequence();
    default:
      fail("'{}' object is not iterable", type_name(value));
  }
}

bool is_iterable(const Value& value) {
  return value.is_undefined() || value.is_text() || value.is_dict() || value.is(Kind::kSequence);
}

std::optional<size_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kText:
      return count_chars(value.bytes());
    case Kind::kDict:
      return value.dict()->size();
    case Kind::kSequence:
      if (value.is_sequence(SequenceKind::kGenerator)) return std::nullopt;
      return value.items().size();
    default:
      return std::nullopt;
  }
}

}  // namespace ferrox::jinja
