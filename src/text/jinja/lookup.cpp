// Where is a filter, test, function or method found by its name?
#include <algorithm>
#include <array>
#include <initializer_list>
#include <unordered_map>

#include "text/jinja/tables.h"

namespace ferrox::jinja {
namespace {

using Index = std::unordered_map<std::string_view, const Builtin*>;

Index index_of(std::initializer_list<BuiltinTable> tables) {
  Index index;
  for (const BuiltinTable& table : tables) {
    for (const Builtin& row : table) index.emplace(row.name, &row);
  }
  return index;
}

const Builtin* find_in(const Index& index, std::string_view name) {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

/// Methods that change a list or a dict in Python; a template may not.
constexpr std::array<std::string_view, 8> kMutatingList = {"append", "clear",  "extend",  "insert",
                                                           "pop",    "remove", "reverse", "sort"};
constexpr std::array<std::string_view, 5> kMutatingDict = {"clear", "pop", "popitem", "setdefault", "update"};

template <size_t n>
bool holds(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_tuple_or_list(const Value& value) {
  return value.is_sequence(SequenceKind::kList) || value.is_sequence(SequenceKind::kTuple) ||
         value.is_sequence(SequenceKind::kGroup);
}

}  // namespace

const Builtin* find_filter(std::string_view name) {
  static const Index index = index_of({text_filters(), sequence_filters(), selection_filters(), value_filters()});
  return find_in(index, name);
}

const Builtin* find_test(std::string_view name) {
  static const Index index = index_of({all_tests()});
  return find_in(index, name);
}

const Builtin* find_global(std::string_view name) {
  static const Index index = index_of({global_functions()});
  return find_in(index, name);
}

const Builtin* find_method(const Value& owner, std::string_view name) {
  static const Index texts = index_of({text_methods(), text_predicates()});
  static const Index dicts = index_of({dict_methods()});
  static const Index lists = index_of({list_methods()});
  if (owner.is_text()) return find_in(texts, name);
  if (owner.is_dict()) return find_in(dicts, name);
  const Builtin* method = is_tuple_or_list(owner) ? find_in(lists, name) : nullptr;
  const bool is_list = owner.is_sequence(SequenceKind::kList);
  return method != nullptr && method->name == "copy" && !is_list ? nullptr : method;
}

bool is_mutating_method(const Value& owner, std::string_view name) {
  if (owner.is_dict()) return holds(kMutatingDict, name);
  return owner.is_sequence(SequenceKind::kList) && holds(kMutatingList, name);
}

}  // namespace ferrox::jinja
