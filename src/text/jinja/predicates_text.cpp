// Which methods of Python's str answer a question: where, how often, is it?
#include <algorithm>

#include "text/jinja/codepoint.h"
#include "text/jinja/tables.h"
#include "text/jinja/text_parts.h"

namespace ferrox::jinja {
namespace {

std::string_view self(Call& call) { return call.self().bytes(); }

/// The part of the text that the arguments `start` and `end` leave, as bytes, and the characters before it.
struct Window {
  std::string_view bytes;
  size_t n_before = 0;
  bool inside = true;  // false: start lies beyond the end
};

Window window_of(Call& call) {
  const std::string_view all = self(call);
  call.budget().spend_bytes(all.size());
  const Integer n_chars = static_cast<Integer>(count_chars(all));
  const auto place = [&](size_t i, Integer fallback) {
    const Integer given = call.has(i) && call.at(i).is_none() ? fallback : call.integer(i, fallback);
    return std::max<Integer>(given < 0 ? given + n_chars : given, 0);
  };
  const Integer start = place(1, 0);
  const Integer end = std::min(place(2, n_chars), n_chars);
  if (start > end) return {{}, 0, false};
  const size_t begin_byte = byte_of_char(all, static_cast<size_t>(start));
  const size_t end_byte = byte_of_char(all, static_cast<size_t>(end));
  return {all.substr(begin_byte, end_byte - begin_byte), static_cast<size_t>(start), true};
}

enum class Affix : uint8_t { kStart, kEnd };

bool has_affix(std::string_view text, std::string_view affix, Affix at) {
  if (affix.size() > text.size()) return false;
  return text.substr(at == Affix::kStart ? 0 : text.size() - affix.size(), affix.size()) == affix;
}

/// str.startswith / str.endswith with one string or a tuple of them.
template <Affix at>
Value method_affix(Call& call) {
  const Window window = window_of(call);
  const Value& wanted = call.at(0);
  if (!window.inside) return false;
  if (!wanted.is_sequence(SequenceKind::kTuple)) return has_affix(window.bytes, call.text(0)->bytes(), at);
  return std::any_of(wanted.items().begin(), wanted.items().end(), [&window](const Value& affix) {
    if (!affix.is_text()) fail("expected a tuple of strings, found '{}' in it", type_name(affix));
    return has_affix(window.bytes, affix.bytes(), at);
  });
}

enum class From : uint8_t { kLeft, kRight };

/// The character index of the argument in the text; -1 when it isn't there.
Value find(Call& call, From from) {
  const Window window = window_of(call);
  const std::string_view wanted = call.text(0)->bytes();
  if (!window.inside) return -1;
  const size_t at = from == From::kLeft ? window.bytes.find(wanted) : window.bytes.rfind(wanted);
  if (at == std::string_view::npos) return -1;
  return window.n_before + count_chars(window.bytes.substr(0, at));
}

template <From from>
Value method_find(Call& call) {
  return find(call, from);
}

template <From from>
Value method_index(Call& call) {
  Value found = find(call, from);
  if (found.integer() < 0) fail("{}(): substring not found", call.name());
  return found;
}

Value method_count(Call& call) {
  const Window window = window_of(call);
  const std::string_view wanted = call.text(0)->bytes();
  if (!window.inside) return 0;
  if (wanted.empty()) return count_chars(window.bytes) + 1;
  return find_all(call.budget(), window.bytes, wanted, window.bytes.size()).size();
}

/// Non-empty, and every character is of the class.
template <bool (*is_member)(char32_t)>
Value method_all(Call& call) {
  const std::string_view text = self(call);
  call.budget().spend_bytes(text.size());
  for (size_t at = 0; at < text.size(); at += char_size(text, at)) {
    if (!is_member(char_at(text, at))) return false;
  }
  return !text.empty();
}

bool is_alphanumeric(char32_t c) { return is_alpha(c) || is_decimal(c); }
bool is_ascii(char32_t c) { return c < 0x80; }

/// Some character has the case, and none has the other.
template <bool (*wanted)(char32_t), bool (*unwanted)(char32_t)>
Value method_case(Call& call) {
  const std::string_view text = self(call);
  call.budget().spend_bytes(text.size());
  bool found = false;
  for (size_t at = 0; at < text.size(); at += char_size(text, at)) {
    if (unwanted(char_at(text, at))) return false;
    found |= wanted(char_at(text, at));
  }
  return found;
}

Value method_istitle(Call& call) {
  const std::string_view text = self(call);
  call.budget().spend_bytes(text.size());
  bool in_word = false;
  bool found = false;
  for (size_t at = 0; at < text.size(); at += char_size(text, at)) {
    const char32_t c = char_at(text, at);
    if ((is_upper(c) && in_word) || (is_lower(c) && !in_word)) return false;
    in_word = is_upper(c) || is_lower(c);
    found |= in_word;
  }
  return found;
}

Value method_isascii(Call& call) { return self(call).empty() ? Value(true) : method_all<is_ascii>(call); }
Value method_isprintable(Call& call) { return self(call).empty() ? Value(true) : method_all<is_printable>(call); }

constexpr std::array kTextPredicates = {
    Builtin{"count", method_count, {"sub", "start", "end"}, 1},
    Builtin{"endswith", method_affix<Affix::kEnd>, {"suffix", "start", "end"}, 1},
    Builtin{"find", method_find<From::kLeft>, {"sub", "start", "end"}, 1},
    Builtin{"index", method_index<From::kLeft>, {"sub", "start", "end"}, 1},
    Builtin{"isalnum", method_all<is_alphanumeric>},
    Builtin{"isalpha", method_all<is_alpha>},
    Builtin{"isascii", method_isascii},
    Builtin{"isdecimal", method_all<is_decimal>},
    Builtin{"isdigit", method_all<is_decimal>},
    Builtin{"islower", method_case<is_lower, is_upper>},
    Builtin{"isnumeric", method_all<is_decimal>},
    Builtin{"isprintable", method_isprintable},
    Builtin{"isspace", method_all<is_space>},
    Builtin{"istitle", method_istitle},
    Builtin{"isupper", method_case<is_upper, is_lower>},
    Builtin{"rfind", method_find<From::kRight>, {"sub", "start", "end"}, 1},
    Builtin{"rindex", method_index<From::kRight>, {"sub", "start", "end"}, 1},
    Builtin{"startswith", method_affix<Affix::kStart>, {"prefix", "start", "end"}, 1},
};

}  // namespace

BuiltinTable text_predicates() { return {kTextPredicates.data(), kTextPredicates.size()}; }

}  // namespace ferrox::jinja
