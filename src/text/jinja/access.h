// What do value.name, value[index] and value[start:stop] give, and what can be looped over?
#pragma once

#include <optional>
#include <string_view>

#include "text/jinja/object.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// value.name: a method or attribute first, then an item; undefined when there is neither.
Value get_attribute(Interpreter& interpreter, const Value& owner, std::string_view name);
/// value[index]: an item first, then a method or attribute; undefined when there is neither.
Value get_item(Interpreter& interpreter, const Value& owner, const Value& index);
/// value[start:stop:step] with Python's clipping; absent parts are none. Fails for what has no slices.
Value get_slice(Interpreter& interpreter, const Value& owner, const Value& start, const Value& stop, const Value& step);

/// The items that a loop over the value sees: characters, keys, items. A generator is used up by it.
/// Fails for what can't be looped over.
SequencePtr iterate(Interpreter& interpreter, const Value& value);
bool is_iterable(const Value& value);
/// Python's len(); nothing for what has none.
std::optional<size_t> length_of(const Value& value);

}  // namespace ferrox::jinja
