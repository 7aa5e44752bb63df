// How is each new string and container charged?
#include "text/jinja/build.h"

#include <algorithm>

namespace ferrox::jinja {
namespace {

void check_depth(size_t depth) {
  if (depth > kMaxValueDepth) fail("lists and dicts nest deeper than {} levels", kMaxValueDepth);
}

}  // namespace

void TextBuilder::charge(size_t size_bytes) {
  budget_.check_text(text_.size() + size_bytes);
  budget_.spend_bytes(size_bytes);
}

TextBuilder& TextBuilder::add(std::string_view bytes, Origin origin) {
  charge(bytes.size());
  text_.append(bytes, origin);
  return *this;
}

TextBuilder& TextBuilder::add(const Text& text, size_t begin, size_t end) {
  charge(end - begin);
  text_.append(text, begin, end);
  return *this;
}

TextBuilder& TextBuilder::repeat(const Text& text, size_t count) {
  if (text.empty()) return *this;
  const size_t max_count = budget_.limits().max_text_bytes / text.size();
  budget_.check_text(count > max_count ? budget_.limits().max_text_bytes + 1 : count * text.size());
  for (size_t i = 0; i < count; ++i) add(text);
  return *this;
}

Value slice_text(Budget& budget, const Text& text, size_t begin, size_t end) {
  budget.spend_text(end - begin);
  return text.slice(begin, end);
}

Value make_sequence(Budget& budget, SequenceKind kind, std::vector<Value> items) {
  budget.spend_bytes((items.size() + 1) * sizeof(Value));
  size_t depth = 0;
  for (const Value& item : items) depth = std::max(depth, depth_of(item));
  check_depth(depth + 1);
  return std::make_shared<const Sequence>(Sequence{kind, std::move(items), depth + 1});
}

Value make_list(Budget& budget, std::vector<Value> items) {
  return make_sequence(budget, SequenceKind::kList, std::move(items));
}

Value make_tuple(Budget& budget, std::vector<Value> items) {
  return make_sequence(budget, SequenceKind::kTuple, std::move(items));
}

Value make_dict(Budget& budget, Dict dict) {
  budget.spend_bytes((dict.size() + 1) * sizeof(Dict::Entry));
  check_depth(dict.depth());
  return std::make_shared<const Dict>(std::move(dict));
}

}  // namespace ferrox::jinja
