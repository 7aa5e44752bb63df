// Which filters make text from text?
#include <algorithm>

#include "text/jinja/html.h"
#include "text/jinja/operators.h"
#include "text/jinja/printf_format.h"
#include "text/jinja/python_text.h"
#include "text/jinja/tables.h"
#include "text/jinja/text_case.h"
#include "text/jinja/text_parts.h"

namespace ferrox::jinja {
namespace {

TextPtr self_text(Call& call) { return to_text(call.budget(), call.self()); }

size_t size_argument(Call& call, size_t i, size_t fallback) {
  const Integer size = call.integer(i, static_cast<Integer>(fallback));
  return static_cast<size_t>(std::clamp<Integer>(size, 0, INT32_MAX));
}

size_t count_argument(Call& call, size_t i) {
  const bool all = !call.has(i) || call.at(i).is_none() || call.integer(i, -1) < 0;
  return all ? static_cast<size_t>(-1) : size_argument(call, i, 0);
}

Value filter_capitalize(Call& call) { return to_capitalized(call.budget(), *self_text(call)); }
Value filter_lower(Call& call) { return to_lower(call.budget(), *self_text(call)); }
Value filter_upper(Call& call) { return to_upper(call.budget(), *self_text(call)); }
Value filter_title(Call& call) { return to_title_words(call.budget(), *self_text(call)); }
Value filter_string(Call& call) { return self_text(call); }

Value filter_center(Call& call) {
  const Text space(" ", Origin::kTemplate);
  return pad(call.budget(), *self_text(call), size_argument(call, 0, 80), space, Side::kBoth);
}

Value filter_trim(Call& call) {
  const bool has_chars = call.has(0) && !call.at(0).is_none();
  const TextPtr chars = has_chars ? call.text(0) : nullptr;
  return strip(call.budget(), *self_text(call), Side::kBoth, chars.get());
}

Value filter_replace(Call& call) {
  const TextPtr old = to_text(call.budget(), call.at(0));
  const TextPtr replacement = to_text(call.budget(), call.at(1));
  return replace(call.budget(), *self_text(call), *old, *replacement, count_argument(call, 2));
}

Value escape_text(Call& call, const Text& text) {
  TextBuilder out(call.budget());
  add_escaped(out, text);
  out.set_markup(Markup::kYes);
  return out.take();
}

Value filter_escape(Call& call) {
  const TextPtr text = self_text(call);
  return text->markup() == Markup::kYes ? Value(text) : escape_text(call, *text);
}

Value filter_forceescape(Call& call) { return escape_text(call, *self_text(call)); }

Value filter_safe(Call& call) {
  Text text = *self_text(call);
  call.budget().spend_bytes(text.size());
  text.set_markup(Markup::kYes);
  return text;
}

Value filter_format(Call& call) {
  const Arguments& arguments = call.surplus();
  if (!arguments.named.empty() && !arguments.positional.empty()) {
    fail("format() takes positional or named arguments, not both");
  }
  if (arguments.named.empty()) {
    return printf_format(call.budget(), *self_text(call), make_tuple(call.budget(), arguments.positional));
  }
  Dict named;
  for (const auto& [name, value] : arguments.named) named.set(data_text(name), value);
  return printf_format(call.budget(), *self_text(call), make_dict(call.budget(), std::move(named)));
}

Value filter_indent(Call& call) {
  refuse_undefined(call.self());
  if (!call.self().is_text()) fail("indent: expected a string, found '{}'", type_name(call.self()));
  const bool by_text = call.has(0) && call.at(0).is_text();
  TextBuilder indentation(call.budget());
  if (by_text) {
    indentation.add(*call.text(0));
  } else {
    indentation.repeat(Text(" ", Origin::kTemplate), size_argument(call, 0, 4));
  }
  const Text indent = indentation.take();
  const TextPtr text = call.self().text();
  call.budget().spend_bytes(text->size() * sizeof(ByteRange));
  // A line end is added before the text is cut into lines, so that a last one counts as a line of its own.
  std::vector<ByteRange> lines = line_ranges(std::string(text->bytes()) + "\n", LineEnds::kDrop);
  TextBuilder out(call.budget());
  if (call.flag(1, false)) out.add(indent);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.print("\n");
    const bool blank = lines[i].begin == lines[i].end;
    if (i > 0 && (!blank || call.flag(2, false))) out.add(indent);
    out.add(*text, lines[i].begin, lines[i].end);
  }
  out.set_markup(text->markup());
  return out.take();
}

Value filter_truncate(Call& call) {
  const TextPtr text = self_text(call);
  const size_t length = size_argument(call, 0, 255);
  const TextPtr end = call.text(2, "...");
  const size_t leeway = size_argument(call, 3, 5);
  if (count_chars(text->bytes()) <= length + leeway) return text;
  const size_t n_end = count_chars(end->bytes());
  if (length < n_end) fail("truncate: expected a length of at least {}, found {}", n_end, length);
  size_t kept = byte_of_char(text->bytes(), length - n_end);
  if (!call.flag(1, false)) kept = std::min(kept, text->bytes().substr(0, kept).rfind(' '));
  TextBuilder out(call.budget());
  out.add(*text, 0, kept).add(*end);
  return out.take();
}

Value filter_wordcount(Call& call) {
  const TextPtr text = self_text(call);
  const std::string_view bytes = text->bytes();
  call.budget().spend_bytes(bytes.size());
  size_t n_words = 0;
  bool in_word = false;
  for (size_t at = 0; at < bytes.size(); at += char_size(bytes, at)) {
    const char32_t c = char_at(bytes, at);
    const bool is_word = c == '_' || is_alpha(c) || is_decimal(c);
    n_words += is_word && !in_word ? 1 : 0;
    in_word = is_word;
  }
  return n_words;
}

constexpr std::array kTextFilters = {
    Builtin{"capitalize", filter_capitalize},
    Builtin{"center", filter_center, {"width"}},
    Builtin{"e", filter_escape},
    Builtin{"escape", filter_escape},
    Builtin{"forceescape", filter_forceescape},
    Builtin{"format", filter_format, {}, 0, Builtin::Surplus::kPassed},
    Builtin{"indent", filter_indent, {"width", "first", "blank"}},
    Builtin{"lower", filter_lower},
    Builtin{"replace", filter_replace, {"old", "new", "count"}, 2},
    Builtin{"safe", filter_safe},
    Builtin{"string", filter_string},
    Builtin{"title", filter_title},
    Builtin{"trim", filter_trim, {"chars"}},
    Builtin{"truncate", filter_truncate, {"length", "killwords", "end", "leeway"}},
    Builtin{"upper", filter_upper},
    Builtin{"wordcount", filter_wordcount},
};

}  // namespace

BuiltinTable text_filters() { return {kTextFilters.data(), kTextFilters.size()}; }

}  // namespace ferrox::jinja
