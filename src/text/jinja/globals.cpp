// Which functions can every template call?
#include <array>

#include "text/jinja/access.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/python_text.h"
#include "text/jinja/raised.h"
#include "text/jinja/tables.h"

namespace ferrox::jinja {
namespace {

Integer range_argument(Call& call, size_t i) {
  if (!call.has(i)) return 0;
  return call.integer(i, 0);
}

/// range(stop), range(start, stop), range(start, stop, step)
Value global_range(Call& call) {
  const bool has_start = call.has(1);
  const Integer start = has_start ? range_argument(call, 0) : 0;
  const Integer stop = range_argument(call, has_start ? 1 : 0);
  const Integer step = call.integer(2, 1);
  if (step == 0) fail("range() step is zero");
  std::vector<Value> items;
  for (Integer i = start; step > 0 ? i < stop : i > stop;) {
    if (items.size() >= kMaxRange) fail("range() is longer than {} items", kMaxRange);
    items.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return make_sequence(call.budget(), SequenceKind::kRange, std::move(items));
}

/// Keys of a mapping, or pairs of an iterable, then named arguments: what dict() and namespace() take.
template <class Set>
void read_entries(Call& call, Set&& set) {
  const Arguments& arguments = call.surplus();
  if (arguments.positional.size() > 1) fail("{}() takes at most one positional argument", call.name());
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (from.is_dict()) {
      for (const auto& [key, value] : from.dict()->entries()) set(key, value);
    } else {
      for (const SequencePtr all = iterate(call.interpreter(), from); const Value& pair : all->items) {
        const SequencePtr parts = iterate(call.interpreter(), pair);
        if (parts->items.size() != 2) fail("{}(): expected pairs", call.name());
        set(parts->items[0], parts->items[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) set(template_text(name), value);
}

Value global_dict(Call& call) {
  Dict dict;
  read_entries(call, [&dict](const Value& key, const Value& value) { dict.set(key, value); });
  return make_dict(call.budget(), std::move(dict));
}

Value global_namespace(Call& call) {
  auto object = std::make_shared<Namespace>();
  call.interpreter().cut_at_end(object);
  read_entries(call,
               [&](const Value& key, const Value& value) { object->set(to_text(call.budget(), key)->bytes(), value); });
  return ObjectPtr(std::move(object));
}

/// joiner(sep): empty when first called, the separator from then on.
class Joiner final : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  std::string_view type_name() const override { return "Joiner"; }
  bool is_callable() const override { return true; }
  Value call(Interpreter&, const Arguments&) override {
    return std::exchange(used_, true) ? separator_ : template_text("");
  }
  size_t depth() const override { return depth_of(separator_) + 1; }

 private:
  Value separator_;
  bool used_ = false;
};

Value global_joiner(Call& call) { return ObjectPtr(std::make_shared<Joiner>(call.at_or(0, template_text(", ")))); }

Value global_raise_exception(Call& call) { fail("{}{}", kRaised, to_text(call.budget(), call.at(0))->bytes()); }

Value global_strftime_now(Call& call) {
  const std::string format(call.text(0)->bytes());
  constexpr size_t kMaxFormat = 256;  // so that the result fits the buffer below
  if (format.size() > kMaxFormat) fail("strftime_now(): expected a format of at most {} bytes", kMaxFormat);
  std::array<char, 16384> buffer{};
  const size_t size = std::strftime(buffer.data(), buffer.size(), format.c_str(), &call.interpreter().now());
  return template_text(std::string(buffer.data(), size));
}

constexpr std::array kGlobalFunctions = {
    Builtin{"dict", global_dict, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"joiner", global_joiner, {"sep"}},
    Builtin{"namespace", global_namespace, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"raise_exception", global_raise_exception, {"message"}, 1},
    Builtin{"range", global_range, {"start", "stop", "step"}, 1},
    Builtin{"strftime_now", global_strftime_now, {"format"}, 1},
};

}  // namespace

BuiltinTable global_functions() { return {kGlobalFunctions.data(), kGlobalFunctions.size()}; }

}  // namespace ferrox::jinja
