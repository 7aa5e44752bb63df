// Which case does each character take?
#include "text/jinja/text_case.h"

#include "text/jinja/codepoint.h"

namespace ferrox::jinja {
namespace {

/// Replaces each character by what `map(character)` gives.
template <class Map>
Value map_characters(Budget& budget, const Text& text, Map&& map) {
  TextBuilder out(budget);
  text.for_each_run(0, text.size(), [&](std::string_view bytes, Origin origin) {
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = char_size(bytes, at);
      const char32_t c = char_at(bytes, at);
      const bool is_valid = c != 0xFFFD || size > 1;
      out.add(is_valid ? map(c) : std::string(bytes.substr(at, size)), origin);
      at += size;
    }
  });
  out.set_markup(text.markup());
  return out.take();
}

bool is_cased(char32_t c) { return is_upper(c) || is_lower(c); }

bool separates_words(char32_t c) { return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<'; }

}  // namespace

Value to_upper(Budget& budget, const Text& text) { return map_characters(budget, text, upper_of); }

Value to_lower(Budget& budget, const Text& text) { return map_characters(budget, text, lower_of); }

Value to_capitalized(Budget& budget, const Text& text) {
  bool first = true;
  return map_characters(budget, text,
                        [&first](char32_t c) { return std::exchange(first, false) ? title_of(c) : lower_of(c); });
}

Value to_title(Budget& budget, const Text& text) {
  bool in_word = false;
  return map_characters(budget, text, [&in_word](char32_t c) {
    std::string mapped = in_word ? lower_of(c) : title_of(c);
    in_word = is_cased(c);
    return mapped;
  });
}

Value to_title_words(Budget& budget, const Text& text) {
  bool in_word = false;
  return map_characters(budget, text, [&in_word](char32_t c) {
    std::string mapped = in_word ? lower_of(c) : upper_of(c);
    in_word = !separates_words(c);
    return mapped;
  });
}

Value swap_case(Budget& budget, const Text& text) {
  return map_characters(budget, text, [](char32_t c) { return is_upper(c) ? lower_of(c) : upper_of(c); });
}

}  // namespace ferrox::jinja
