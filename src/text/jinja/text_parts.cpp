// Where are the cuts?
#include "text/jinja/text_parts.h"

#include <algorithm>

namespace ferrox::jinja {
namespace {

bool is_stripped(std::string_view character, const Text* chars) {
  return chars == nullptr ? is_space(char_at(character, 0)) : chars->bytes().find(character) != std::string_view::npos;
}

ByteRange strip_range(std::string_view bytes, Side side, const Text* chars) {
  ByteRange range{0, bytes.size()};
  while (side != Side::kRight && range.begin < range.end) {
    const size_t size = char_size(bytes, range.begin);
    if (!is_stripped(bytes.substr(range.begin, size), chars)) break;
    range.begin += size;
  }
  while (side != Side::kLeft && range.end > range.begin) {
    const size_t at = last_char(bytes, range.end);
    if (!is_stripped(bytes.substr(at, range.end - at), chars)) break;
    range.end = at;
  }
  return range;
}

Value list_of_ranges(Budget& budget, const Text& text, const std::vector<ByteRange>& ranges) {
  std::vector<Value> parts;
  budget.spend_bytes(ranges.size() * sizeof(Value));
  for (const ByteRange& range : ranges) parts.push_back(slice_text(budget, text, range.begin, range.end));
  return make_list(budget, std::move(parts));
}

/// Runs of what isn't white space; after `max_splits` of them the rest, up to the very end, is one part.
std::vector<ByteRange> word_ranges(std::string_view bytes, size_t max_splits) {
  std::vector<ByteRange> words;
  size_t at = 0;
  while (true) {
    at += strip_range(bytes.substr(at), Side::kLeft, nullptr).begin;
    if (at == bytes.size()) return words;
    if (words.size() == max_splits) break;
    size_t end = at;
    while (end < bytes.size() && !is_space(char_at(bytes, end))) end += char_size(bytes, end);
    words.push_back({at, end});
    at = end;
  }
  words.push_back({at, bytes.size()});
  return words;
}

/// The same from the right.
std::vector<ByteRange> word_ranges_from_right(std::string_view bytes, size_t max_splits) {
  std::vector<ByteRange> words = word_ranges(bytes, bytes.size());
  if (words.size() <= max_splits + 1) return words;
  const size_t n_joined = words.size() - max_splits;
  words[n_joined - 1].begin = 0;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(n_joined - 1));
  return words;
}

std::vector<ByteRange> between(const std::vector<size_t>& cuts, size_t cut_size, size_t size) {
  std::vector<ByteRange> ranges;
  size_t begin = 0;
  for (const size_t cut : cuts) {
    ranges.push_back({begin, cut});
    begin = cut + cut_size;
  }
  ranges.push_back({begin, size});
  return ranges;
}

/// Places of the separator found from the right, ascending.
std::vector<size_t> find_last(std::string_view text, std::string_view separator, size_t max_count) {
  std::vector<size_t> found;
  size_t end = text.size();
  while (found.size() < max_count) {
    const size_t at = text.substr(0, end).rfind(separator);
    if (at == std::string_view::npos) break;
    found.push_back(at);
    end = at;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/// replace() of nothing: between all characters.
Value insert_everywhere(Budget& budget, const Text& text, const Text& inserted, size_t max_count) {
  TextBuilder out(budget);
  size_t n_inserted = 0;
  for (size_t at = 0; at <= text.size();) {
    if (n_inserted++ < max_count) out.add(inserted);
    if (at == text.size()) break;
    const size_t end = at + char_size(text.bytes(), at);
    out.add(text, at, end);
    at = end;
  }
  return out.take();
}

}  // namespace

Value strip(Budget& budget, const Text& text, Side side, const Text* chars) {
  if (chars != nullptr) budget.spend_bytes(chars->size());
  const ByteRange kept = strip_range(text.bytes(), side, chars);
  return slice_text(budget, text, kept.begin, kept.end);
}

std::vector<size_t> find_all(Budget& budget, std::string_view text, std::string_view separator, size_t max_count) {
  budget.spend_bytes(text.size());
  std::vector<size_t> found;
  for (size_t at = text.find(separator); at != std::string_view::npos && found.size() < max_count;
       at = text.find(separator, at + separator.size())) {
    budget.spend_bytes(sizeof(size_t) + sizeof(ByteRange));
    found.push_back(at);
  }
  return found;
}

Value split(Budget& budget, const Text& text, const Text* separator, size_t max_splits, Side from) {
  const std::string_view bytes = text.bytes();
  if (separator == nullptr) {
    budget.spend_bytes(bytes.size() * sizeof(ByteRange));
    return list_of_ranges(
        budget, text, from == Side::kLeft ? word_ranges(bytes, max_splits) : word_ranges_from_right(bytes, max_splits));
  }
  if (separator->empty()) fail("split(): separator is empty");
  const auto cuts = from == Side::kLeft || max_splits >= bytes.size()
                        ? find_all(budget, bytes, separator->bytes(), max_splits)
                        : find_last(bytes, separator->bytes(), max_splits);
  return list_of_ranges(budget, text, between(cuts, separator->size(), bytes.size()));
}

std::vector<ByteRange> line_ranges(std::string_view text, LineEnds ends) {
  std::vector<ByteRange> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    size_t next = at + char_size(text, at);
    if (ends_line(char_at(text, at))) {
      if (text[at] == '\r' && next < text.size() && text[next] == '\n') ++next;
      lines.push_back({begin, ends == LineEnds::kKeep ? next : at});
      begin = next;
    }
    at = next;
  }
  if (begin < text.size()) lines.push_back({begin, text.size()});
  return lines;
}

Value split_lines(Budget& budget, const Text& text, LineEnds ends) {
  budget.spend_bytes(text.size() * sizeof(ByteRange));
  return list_of_ranges(budget, text, line_ranges(text.bytes(), ends));
}

Value partition(Budget& budget, const Text& text, const Text& separator, Side from) {
  if (separator.empty()) fail("partition(): separator is empty");
  budget.spend_bytes(text.size());
  const size_t at = from == Side::kLeft ? text.bytes().find(separator.bytes()) : text.bytes().rfind(separator.bytes());
  std::vector<Value> parts(3, Value(Text()));
  if (at == std::string_view::npos) {
    parts[from == Side::kLeft ? 0 : 2] = slice_text(budget, text, 0, text.size());
  } else {
    const size_t after = at + separator.size();
    parts = {slice_text(budget, text, 0, at), slice_text(budget, text, at, after),
             slice_text(budget, text, after, text.size())};
  }
  return make_tuple(budget, std::move(parts));
}

Value replace(Budget& budget, const Text& text, const Text& old, const Text& replacement, size_t max_count) {
  if (old.empty()) return insert_everywhere(budget, text, replacement, max_count);
  TextBuilder out(budget);
  size_t begin = 0;
  for (const size_t at : find_all(budget, text.bytes(), old.bytes(), max_count)) {
    out.add(text, begin, at).add(replacement);
    begin = at + old.size();
  }
  out.add(text, begin, text.size());
  out.set_markup(text.markup());
  return out.take();
}

Value pad(Budget& budget, const Text& text, size_t width, const Text& fill, Side side) {
  if (count_chars(fill.bytes()) != 1) fail("the fill must be one character long");
  const size_t n_chars = count_chars(text.bytes());
  const size_t missing = width > n_chars ? width - n_chars : 0;
  // Python puts the odd character of a centred text at the left when the width is odd.
  const size_t centred = missing / 2 + (missing & width & 1);
  const size_t left = side == Side::kLeft ? 0 : side == Side::kRight ? missing : centred;
  TextBuilder out(budget);
  out.repeat(fill, left).add(text).repeat(fill, missing - left);
  out.set_markup(text.markup());
  return out.take();
}

}  // namespace ferrox::jinja
