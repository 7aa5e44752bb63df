// Which methods of Python's dict, list and tuple leave them as they are?
#include "text/jinja/operators.h"
#include "text/jinja/tables.h"

namespace ferrox::jinja {
namespace {

const Dict& self_dict(Call& call) { return *call.self().dict(); }

Value method_get(Call& call) {
  const Value& key = call.at(0);
  if (!key.is_undefined() && !is_hashable(key)) fail("unhashable type: '{}'", type_name(key));
  if (key.is_text()) call.budget().spend_bytes(key.text()->size());
  const Value* found = self_dict(call).find(key);
  return found == nullptr ? call.at_or(1, None{}) : *found;
}

Value method_items(Call& call) {
  std::vector<Value> pairs;
  pairs.reserve(self_dict(call).size());
  for (const auto& [key, value] : self_dict(call).entries()) pairs.push_back(make_tuple(call.budget(), {key, value}));
  return make_sequence(call.budget(), SequenceKind::kItems, std::move(pairs));
}

Value method_keys(Call& call) {
  std::vector<Value> keys;
  keys.reserve(self_dict(call).size());
  for (const auto& entry : self_dict(call).entries()) keys.push_back(entry.first);
  return make_sequence(call.budget(), SequenceKind::kKeys, std::move(keys));
}

Value method_values(Call& call) {
  std::vector<Value> values;
  values.reserve(self_dict(call).size());
  for (const auto& entry : self_dict(call).entries()) values.push_back(entry.second);
  return make_sequence(call.budget(), SequenceKind::kValues, std::move(values));
}

Value method_copy(Call& call) { return call.self(); }

Value method_count(Call& call) {
  size_t n = 0;
  for (const Value& item : call.self().items()) n += equal(call.budget(), item, call.at(0)) ? 1 : 0;
  return n;
}

Value method_index(Call& call) {
  const auto& items = call.self().items();
  for (size_t i = 0; i < items.size(); ++i) {
    if (equal(call.budget(), items[i], call.at(0))) return i;
  }
  fail("index(): the value is not in the list");
}

constexpr std::array kDictRows = {
    Builtin{"copy", method_copy},     Builtin{"get", method_get, {"key", "default"}, 1},
    Builtin{"items", method_items},   Builtin{"keys", method_keys},
    Builtin{"values", method_values},
};

constexpr std::array kListRows = {
    Builtin{"copy", method_copy},
    Builtin{"count", method_count, {"value"}, 1},
    Builtin{"index", method_index, {"value"}, 1},
};

}  // namespace

BuiltinTable dict_methods() { return {kDictRows.data(), kDictRows.size()}; }

BuiltinTable list_methods() { return {kListRows.data(), kListRows.size()}; }

}  // namespace ferrox::jinja
