// Which filters run another filter or test on each item?
#include "text/jinja/access.h"
#include "text/jinja/attribute_path.h"
#include "text/jinja/tables.h"

namespace ferrox::jinja {
namespace {

enum class Keep : uint8_t { kPassing, kFailing };
enum class On : uint8_t { kItem, kAttribute };

/// The named arguments of a filter that stand behind its first `n_taken` positional ones.
Arguments rest_of(const Arguments& arguments, size_t n_taken) {
  Arguments rest;
  rest.named = arguments.named;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(n_taken),
                         arguments.positional.end());
  return rest;
}

Value run(Call& call, const Builtin& builtin, const Value& item, const Arguments& arguments) {
  call.budget().spend_steps(1);
  Call inner(call.interpreter(), builtin, item, arguments);
  return builtin.function(inner);
}

std::string_view name_at(const Arguments& arguments, size_t i) {
  if (!arguments.positional[i].is_text())
    fail("expected the name of a filter or test, found '{}'", type_name(arguments.positional[i]));
  return arguments.positional[i].bytes();
}

/// These filters take whatever is false, none too, for an empty list.
SequencePtr self_items(Call& call) { return iterate(call.interpreter(), is_true(call.self()) ? call.self() : Value()); }

/// select, reject, selectattr, rejectattr: [attribute], [test, its arguments...].
Value select(Call& call, Keep keep, On on) {
  const Arguments& arguments = call.surplus();
  const size_t n_path = on == On::kAttribute ? 1 : 0;
  if (arguments.positional.size() < n_path) fail("{}: missing the name of an attribute", call.name());
  const Builtin* test = nullptr;
  Arguments test_arguments;
  if (arguments.positional.size() > n_path) {
    test = find_test(name_at(arguments, n_path));
    if (test == nullptr) fail("no test is named '{}'", name_at(arguments, n_path));
    test_arguments = rest_of(arguments, n_path + 1);
  }
  std::vector<Value> kept;
  for (const SequencePtr all = self_items(call); const Value& item : all->items) {
    const Value judged = n_path == 1 ? follow_path(call.interpreter(), item, arguments.positional[0], Value()) : item;
    const bool passes = is_true(test == nullptr ? judged : run(call, *test, judged, test_arguments));
    if (passes == (keep == Keep::kPassing)) kept.push_back(item);
  }
  return make_sequence(call.budget(), SequenceKind::kGenerator, std::move(kept));
}

Value filter_select(Call& call) { return select(call, Keep::kPassing, On::kItem); }
Value filter_reject(Call& call) { return select(call, Keep::kFailing, On::kItem); }
Value filter_selectattr(Call& call) { return select(call, Keep::kPassing, On::kAttribute); }
Value filter_rejectattr(Call& call) { return select(call, Keep::kFailing, On::kAttribute); }

Value map_attribute(Call& call) {
  const Value fallback = call.at_or(1, Value());
  std::vector<Value> mapped;
  for (const SequencePtr all = self_items(call); const Value& item : all->items) {
    mapped.push_back(follow_path(call.interpreter(), item, call.at(0), fallback));
  }
  return make_sequence(call.budget(), SequenceKind::kGenerator, std::move(mapped));
}

Value map_filter(Call& call, const Arguments& arguments) {
  if (arguments.positional.empty()) fail("map: missing the name of a filter");
  const Builtin* filter = find_filter(name_at(arguments, 0));
  if (filter == nullptr) fail("no filter is named '{}'", name_at(arguments, 0));
  const Arguments rest = rest_of(arguments, 1);
  std::vector<Value> mapped;
  for (const SequencePtr all = self_items(call); const Value& item : all->items)
    mapped.push_back(run(call, *filter, item, rest));
  return make_sequence(call.budget(), SequenceKind::kGenerator, std::move(mapped));
}

/// map(attribute='path', default=x) or map('filter', its arguments...).
Value filter_map(Call& call) {
  const Arguments& arguments = call.surplus();
  if (!arguments.positional.empty()) return map_filter(call, arguments);
  static constexpr Builtin kByAttribute{"map", map_attribute, {"attribute", "default"}, 1};
  return run(call, kByAttribute, call.self(), arguments);
}

constexpr std::array kSelectionFilters = {
    Builtin{"map", filter_map, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"reject", filter_reject, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"rejectattr", filter_rejectattr, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"select", filter_select, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"selectattr", filter_selectattr, {}, 0, Builtin::Surplus::kPassed},
};

}  // namespace

BuiltinTable selection_filters() { return {kSelectionFilters.data(), kSelectionFilters.size()}; }

}  // namespace ferrox::jinja
