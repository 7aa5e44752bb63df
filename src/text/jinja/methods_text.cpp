// Which methods of Python's str give new values?
#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/brace_format.h"
#include "text/jinja/codepoint.h"
#include "text/jinja/tables.h"
#include "text/jinja/text_case.h"
#include "text/jinja/text_parts.h"

namespace ferrox::jinja {
namespace {

constexpr size_t kAll = static_cast<size_t>(-1);

const Text& self(Call& call) { return *call.self().text(); }

Value method_upper(Call& call) { return to_upper(call.budget(), self(call)); }
Value method_lower(Call& call) { return to_lower(call.budget(), self(call)); }
Value method_title(Call& call) { return to_title(call.budget(), self(call)); }
Value method_capitalize(Call& call) { return to_capitalized(call.budget(), self(call)); }
Value method_swapcase(Call& call) { return swap_case(call.budget(), self(call)); }

TextPtr optional_text(Call& call, size_t i) { return call.has(i) && !call.at(i).is_none() ? call.text(i) : nullptr; }

template <Side side>
Value method_strip(Call& call) {
  return strip(call.budget(), self(call), side, optional_text(call, 0).get());
}

size_t count_argument(Call& call, size_t i) {
  const Integer count = call.integer(i, -1);
  return count < 0 ? kAll : static_cast<size_t>(std::min<Integer>(count, INT32_MAX));
}

template <Side from>
Value method_split(Call& call) {
  return split(call.budget(), self(call), optional_text(call, 0).get(), count_argument(call, 1), from);
}

Value method_splitlines(Call& call) {
  return split_lines(call.budget(), self(call), call.flag(0, false) ? LineEnds::kKeep : LineEnds::kDrop);
}

template <Side from>
Value method_partition(Call& call) {
  return partition(call.budget(), self(call), *call.text(0), from);
}

Value method_replace(Call& call) {
  return replace(call.budget(), self(call), *call.text(0), *call.text(1), count_argument(call, 2));
}

Value method_join(Call& call) {
  TextBuilder out(call.budget());
  bool first = true;
  for (const SequencePtr all = iterate(call.interpreter(), call.at(0)); const Value& item : all->items) {
    if (!std::exchange(first, false)) out.add(self(call));
    if (!item.is_text()) fail("join(): expected strings, found '{}'", type_name(item));
    out.add(*item.text());
  }
  return out.take();
}

Value method_format(Call& call) { return brace_format(call.interpreter(), self(call), call.surplus()); }

Value method_removeprefix(Call& call) {
  const TextPtr prefix = call.text(0);
  const bool has = self(call).bytes().substr(0, prefix->size()) == prefix->bytes();
  return slice_text(call.budget(), self(call), has ? prefix->size() : 0, self(call).size());
}

Value method_removesuffix(Call& call) {
  const TextPtr suffix = call.text(0);
  const size_t size = self(call).size();
  const bool has = suffix->size() <= size && self(call).bytes().substr(size - suffix->size()) == suffix->bytes();
  return slice_text(call.budget(), self(call), 0, has ? size - suffix->size() : size);
}

size_t width_argument(Call& call) { return static_cast<size_t>(std::clamp<Integer>(call.integer(0, 0), 0, INT32_MAX)); }

template <Side side>
Value method_pad(Call& call) {
  return pad(call.budget(), self(call), width_argument(call), *call.text(1, " "), side);
}

Value method_zfill(Call& call) {
  const Text& text = self(call);
  const bool has_sign = !text.empty() && (text.bytes()[0] == '-' || text.bytes()[0] == '+');
  const size_t n_chars = count_chars(text.bytes());
  const size_t width = width_argument(call);
  TextBuilder out(call.budget());
  out.add(text, 0, has_sign ? 1 : 0);
  out.repeat(Text("0", Origin::kTemplate), width > n_chars ? width - n_chars : 0);
  out.add(text, has_sign ? 1 : 0, text.size());
  return out.take();
}

constexpr std::array kTextMethods = {
    Builtin{"capitalize", method_capitalize},
    Builtin{"casefold", method_lower},
    Builtin{"center", method_pad<Side::kBoth>, {"width", "fillchar"}, 1},
    Builtin{"format", method_format, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"join", method_join, {"iterable"}, 1},
    Builtin{"ljust", method_pad<Side::kLeft>, {"width", "fillchar"}, 1},
    Builtin{"lower", method_lower},
    Builtin{"lstrip", method_strip<Side::kLeft>, {"chars"}},
    Builtin{"partition", method_partition<Side::kLeft>, {"sep"}, 1},
    Builtin{"removeprefix", method_removeprefix, {"prefix"}, 1},
    Builtin{"removesuffix", method_removesuffix, {"suffix"}, 1},
    Builtin{"replace", method_replace, {"old", "new", "count"}, 2},
    Builtin{"rjust", method_pad<Side::kRight>, {"width", "fillchar"}, 1},
    Builtin{"rpartition", method_partition<Side::kRight>, {"sep"}, 1},
    Builtin{"rsplit", method_split<Side::kRight>, {"sep", "maxsplit"}},
    Builtin{"rstrip", method_strip<Side::kRight>, {"chars"}},
    Builtin{"split", method_split<Side::kLeft>, {"sep", "maxsplit"}},
    Builtin{"splitlines", method_splitlines, {"keepends"}},
    Builtin{"strip", method_strip<Side::kBoth>, {"chars"}},
    Builtin{"swapcase", method_swapcase},
    Builtin{"title", method_title},
    Builtin{"upper", method_upper},
    Builtin{"zfill", method_zfill, {"width"}, 1},
};

}  // namespace

BuiltinTable text_methods() { return {kTextMethods.data(), kTextMethods.size()}; }

}  // namespace ferrox::jinja
