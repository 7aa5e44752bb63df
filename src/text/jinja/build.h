// How are values made without leaving the budget?
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/budget.h"
#include "text/jinja/dict.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// Builds a string piece by piece; every byte is charged before it is stored.
class TextBuilder {
 public:
  explicit TextBuilder(Budget& budget) : budget_(budget) {}

  TextBuilder& add(std::string_view bytes, Origin origin);
  TextBuilder& add(const Text& text) { return add(text, 0, text.size()); }
  TextBuilder& add(const Text& text, size_t begin, size_t end);
  /// What the engine itself writes.
  TextBuilder& print(std::string_view bytes) { return add(bytes, Origin::kTemplate); }
  /// `count` copies of a text.
  TextBuilder& repeat(const Text& text, size_t count);

  void set_markup(Markup markup) { text_.set_markup(markup); }
  bool empty() const { return text_.empty(); }
  size_t size() const { return text_.size(); }
  Text take() { return std::move(text_); }

 private:
  void charge(size_t size_bytes);

  Budget& budget_;
  Text text_;
};

/// The byte range [begin, end) of a text, charged.
Value slice_text(Budget& budget, const Text& text, size_t begin, size_t end);
Value make_sequence(Budget& budget, SequenceKind kind, std::vector<Value> items);
Value make_list(Budget& budget, std::vector<Value> items);
Value make_tuple(Budget& budget, std::vector<Value> items);
Value make_dict(Budget& budget, Dict dict);

}  // namespace ferrox::jinja
