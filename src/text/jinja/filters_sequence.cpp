// Which filters reorder, regroup or reduce a list?
#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/attribute_path.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_text.h"
#include "text/jinja/tables.h"

namespace ferrox::jinja {
namespace {

SequencePtr self_items(Call& call) { return iterate(call.interpreter(), call.self()); }

Value path_argument(Call& call, size_t i) { return call.at_or(i, None{}); }

CaseRule case_argument(Call& call, size_t i) { return call.flag(i, false) ? CaseRule::kKeep : CaseRule::kIgnore; }

size_t positive_argument(Call& call, size_t i) {
  const Integer value = call.integer(i, 0);
  if (value < 1 || value > static_cast<Integer>(kMaxRange)) {
    fail("{}: expected a size of 1 to {}, found {}", call.name(), kMaxRange, value);
  }
  return static_cast<size_t>(value);
}

Value make_generator(Call& call, std::vector<Value> items) {
  return make_sequence(call.budget(), SequenceKind::kGenerator, std::move(items));
}

Value filter_length(Call& call) {
  const auto length = length_of(call.self());
  if (!length) fail("object of type '{}' has no length", type_name(call.self()));
  return *length;
}

Value filter_list(Call& call) {
  const SequencePtr items = self_items(call);
  call.budget().spend_bytes(items->items.size() * sizeof(Value));
  return make_list(call.budget(), items->items);
}

Value filter_items(Call& call) {
  if (call.self().is_undefined()) return make_generator(call, {});
  if (!call.self().is_dict()) fail("items: expected a mapping, found '{}'", type_name(call.self()));
  std::vector<Value> pairs;
  for (const auto& [key, value] : call.self().dict()->entries())
    pairs.push_back(make_tuple(call.budget(), {key, value}));
  return make_generator(call, std::move(pairs));
}

Value filter_first(Call& call) {
  const Value& self = call.self();
  const SequencePtr items = self.is(Kind::kSequence) ? self.sequence() : self_items(call);
  return items->items.empty() ? undefined_value("no first item, sequence was empty") : items->items.front();
}

Value filter_last(Call& call) {
  if (call.self().is_sequence(SequenceKind::kGenerator))
    fail("last: '{}' object is not reversible", type_name(call.self()));
  const SequencePtr items = self_items(call);
  return items->items.empty() ? undefined_value("no last item, sequence was empty") : items->items.back();
}

Value filter_reverse(Call& call) {
  if (call.self().is_sequence(SequenceKind::kGenerator)) fail("reverse: argument must be iterable");
  const SequencePtr items = self_items(call);
  call.budget().spend_bytes(items->items.size() * sizeof(Value));
  std::vector<Value> reversed(items->items.rbegin(), items->items.rend());
  if (!call.self().is_text()) return make_generator(call, std::move(reversed));
  TextBuilder out(call.budget());
  for (const Value& character : reversed) out.add(*character.text());
  return out.take();
}

Value filter_join(Call& call) {
  const TextPtr separator = call.has(0) ? to_text(call.budget(), call.at(0)) : std::make_shared<const Text>();
  const Value path = path_argument(call, 1);
  TextBuilder out(call.budget());
  bool first = true;
  for (const SequencePtr all = self_items(call); const Value& item : all->items) {
    if (!std::exchange(first, false)) out.add(*separator);
    const Value shown = path.is_none() ? item : follow_path(call.interpreter(), item, path, Value());
    out.add(*to_text(call.budget(), shown));
  }
  return out.take();
}

/// Each item with the keys it is ordered by.
struct Keyed {
  std::vector<Value> keys;
  Value item;
};

/// sort's attribute may name several paths: "a,b".
std::vector<Value> split_paths(const Value& attribute) {
  if (!attribute.is_text()) return {attribute};
  std::vector<Value> paths;
  std::string_view rest = attribute.bytes();
  while (true) {
    const size_t comma = std::min(rest.find(','), rest.size());
    paths.push_back(template_text(std::string(rest.substr(0, comma))));
    if (comma == rest.size()) return paths;
    rest.remove_prefix(comma + 1);
  }
}

bool keys_less(Budget& budget, const Keyed& left, const Keyed& right) {
  for (size_t i = 0; i < left.keys.size(); ++i) {
    if (!equal(budget, left.keys[i], right.keys[i])) return less(budget, left.keys[i], right.keys[i]);
  }
  return false;
}

enum class SortOrder : uint8_t { kAscending, kDescending };

void sort_keyed(Budget& budget, std::vector<Keyed>& rows, SortOrder order) {
  std::stable_sort(rows.begin(), rows.end(), [&budget, order](const Keyed& left, const Keyed& right) {
    return order == SortOrder::kAscending ? keys_less(budget, left, right) : keys_less(budget, right, left);
  });
}

std::vector<Keyed> with_keys(Call& call, const std::vector<Value>& items, const Value& attribute, CaseRule rule) {
  const std::vector<Value> paths = split_paths(attribute);
  call.budget().spend_bytes(items.size() * (paths.size() + 1) * sizeof(Value));
  std::vector<Keyed> rows;
  for (const Value& item : items) {
    Keyed row{{}, item};
    for (const Value& path : paths) row.keys.push_back(sort_key(call.interpreter(), item, path, rule));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Value> items_of(std::vector<Keyed> rows) {
  std::vector<Value> items;
  for (Keyed& row : rows) items.push_back(std::move(row.item));
  return items;
}

SortOrder order_argument(Call& call, size_t i) {
  return call.flag(i, false) ? SortOrder::kDescending : SortOrder::kAscending;
}

Value filter_sort(Call& call) {
  auto rows = with_keys(call, self_items(call)->items, path_argument(call, 2), case_argument(call, 1));
  sort_keyed(call.budget(), rows, order_argument(call, 0));
  return make_list(call.budget(), items_of(std::move(rows)));
}

Value filter_dictsort(Call& call) {
  if (!call.self().is_dict()) fail("dictsort: expected a mapping, found '{}'", type_name(call.self()));
  const TextPtr by = call.text(1, "key");
  if (by->bytes() != "key" && by->bytes() != "value") fail("dictsort: expected by='key' or by='value'");
  std::vector<Value> pairs;
  for (const auto& [key, value] : call.self().dict()->entries())
    pairs.push_back(make_tuple(call.budget(), {key, value}));
  auto rows = with_keys(call, pairs, Value(by->bytes() == "key" ? 0 : 1), case_argument(call, 0));
  sort_keyed(call.budget(), rows, order_argument(call, 2));
  return make_list(call.budget(), items_of(std::move(rows)));
}

Value filter_unique(Call& call) {
  Dict seen;
  std::vector<Value> kept;
  for (const SequencePtr all = self_items(call); const Value& item : all->items) {
    Value key = sort_key(call.interpreter(), item, path_argument(call, 1), case_argument(call, 0));
    call.budget().spend_bytes(sizeof(Dict::Entry) + (key.is_text() ? key.text()->size() : 0));
    if (seen.find(key) != nullptr) continue;
    seen.set(std::move(key), true);
    kept.push_back(item);
  }
  return make_generator(call, std::move(kept));
}

Value extreme(Call& call, SortOrder order) {
  auto rows = with_keys(call, self_items(call)->items, path_argument(call, 1), case_argument(call, 0));
  if (rows.empty()) return undefined_value("no aggregated item, sequence was empty");
  size_t best = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    const bool better = order == SortOrder::kAscending ? keys_less(call.budget(), rows[i], rows[best])
                                                       : keys_less(call.budget(), rows[best], rows[i]);
    if (better) best = i;
  }
  return rows[best].item;
}

Value filter_min(Call& call) { return extreme(call, SortOrder::kAscending); }
Value filter_max(Call& call) { return extreme(call, SortOrder::kDescending); }

Value filter_sum(Call& call) {
  const Value path = path_argument(call, 0);
  Value total = call.at_or(1, Value(0));
  if (total.is_text()) fail("sum: can't sum strings");
  for (const SequencePtr all = self_items(call); const Value& item : all->items) {
    const Value part = path.is_none() ? item : follow_path(call.interpreter(), item, path, Value());
    total = apply(call.budget(), BinaryOperator::kAdd, total, part);
  }
  return total;
}

Value filter_batch(Call& call) {
  const size_t n_columns = positive_argument(call, 0);
  const SequencePtr items = self_items(call);
  std::vector<Value> rows;
  for (size_t begin = 0; begin < items->items.size(); begin += n_columns) {
    const size_t end = std::min(begin + n_columns, items->items.size());
    std::vector<Value> row(items->items.begin() + static_cast<std::ptrdiff_t>(begin),
                           items->items.begin() + static_cast<std::ptrdiff_t>(end));
    if (call.has(1) && !call.at(1).is_none()) {
      call.budget().spend_bytes(n_columns * sizeof(Value));
      row.resize(n_columns, call.at(1));
    }
    rows.push_back(make_list(call.budget(), std::move(row)));
  }
  return make_generator(call, std::move(rows));
}

Value filter_slice(Call& call) {
  const size_t n_slices = positive_argument(call, 0);
  const SequencePtr items = self_items(call);
  const size_t size = items->items.size() / n_slices;
  const size_t n_longer = items->items.size() % n_slices;
  call.budget().spend_bytes(n_slices * sizeof(Value));
  std::vector<Value> slices;
  auto begin = items->items.begin();
  for (size_t i = 0; i < n_slices; ++i) {
    const auto end = begin + static_cast<std::ptrdiff_t>(size + (i < n_longer ? 1 : 0));
    std::vector<Value> slice(begin, end);
    begin = end;
    if (call.has(1) && !call.at(1).is_none() && i >= n_longer) slice.push_back(call.at(1));
    slices.push_back(make_list(call.budget(), std::move(slice)));
  }
  return make_generator(call, std::move(slices));
}

Value filter_groupby(Call& call) {
  const Value fallback = call.at_or(1, Value());
  const CaseRule rule = case_argument(call, 2);
  const auto key_of = [&](const Value& item) { return follow_path(call.interpreter(), item, call.at(0), fallback); };
  std::vector<Keyed> rows;
  for (const SequencePtr all = self_items(call); const Value& item : all->items) {
    rows.push_back({{sort_key(call.interpreter(), key_of(item), None{}, rule)}, item});
  }
  sort_keyed(call.budget(), rows, SortOrder::kAscending);
  std::vector<Value> groups;
  for (size_t begin = 0; begin < rows.size();) {
    std::vector<Value> members;
    size_t end = begin;
    while (end < rows.size() && equal(call.budget(), rows[end].keys[0], rows[begin].keys[0])) {
      members.push_back(rows[end++].item);
    }
    Value list = make_list(call.budget(), std::move(members));
    groups.push_back(make_sequence(call.budget(), SequenceKind::kGroup, {key_of(rows[begin].item), std::move(list)}));
    begin = end;
  }
  return make_list(call.budget(), std::move(groups));
}

constexpr std::array kSequenceFilters = {
    Builtin{"batch", filter_batch, {"linecount", "fill_with"}, 1},
    Builtin{"count", filter_length},
    Builtin{"dictsort", filter_dictsort, {"case_sensitive", "by", "reverse"}},
    Builtin{"first", filter_first},
    Builtin{"groupby", filter_groupby, {"attribute", "default", "case_sensitive"}, 1},
    Builtin{"items", filter_items},
    Builtin{"join", filter_join, {"d", "attribute"}},
    Builtin{"last", filter_last},
    Builtin{"length", filter_length},
    Builtin{"list", filter_list},
    Builtin{"max", filter_max, {"case_sensitive", "attribute"}},
    Builtin{"min", filter_min, {"case_sensitive", "attribute"}},
    Builtin{"reverse", filter_reverse},
    Builtin{"slice", filter_slice, {"slices", "fill_with"}, 1},
    Builtin{"sort", filter_sort, {"reverse", "case_sensitive", "attribute"}},
    Builtin{"sum", filter_sum, {"attribute", "start"}},
    Builtin{"unique", filter_unique, {"case_sensitive", "attribute"}},
};

}  // namespace

BuiltinTable sequence_filters() { return {kSequenceFilters.data(), kSequenceFilters.size()}; }

}  // namespace ferrox::jinja
