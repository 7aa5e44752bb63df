// Which quotes, brackets and escapes does Python print?
#include "text/jinja/python_text.h"

#include <array>

#include "text/jinja/codepoint.h"
#include "text/jinja/number_text.h"
#include "text/jinja/object.h"

namespace ferrox::jinja {
namespace {

struct Brackets {
  std::string_view open;
  std::string_view close;
};

/// In the order of SequenceKind.
constexpr std::array<Brackets, 8> kBrackets = {{{"[", "]"},
                                                {"(", ")"},
                                                {"range(", ")"},
                                                {"dict_keys([", "])"},
                                                {"dict_values([", "])"},
                                                {"dict_items([", "])"},
                                                {"<generator", ">"},
                                                {"(", ")"}}};

std::string escaped(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (c < 0x100) return fmt::format("\\x{:02x}", static_cast<uint32_t>(c));
  if (c < 0x10000) return fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
  return fmt::format("\\U{:08x}", static_cast<uint32_t>(c));
}

void add_run(TextBuilder& out, std::string_view bytes, Origin origin, char quote) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = char_size(bytes, at);
    const char32_t c = char_at(bytes, at);
    if (c == '\\' || c == static_cast<unsigned char>(quote)) out.print("\\");
    if (is_printable(c)) {
      out.add(bytes.substr(at, size), origin);
    } else {
      out.print(escaped(c));
    }
    at += size;
  }
}

void add_quoted(TextBuilder& out, const Text& text) {
  const bool has_single = text.bytes().find('\'') != std::string_view::npos;
  const bool has_double = text.bytes().find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  if (text.markup() == Markup::kYes) out.print("Markup(");
  out.print(std::string_view(&quote, 1));
  text.for_each_run(0, text.size(), [&](std::string_view bytes, Origin origin) { add_run(out, bytes, origin, quote); });
  out.print(std::string_view(&quote, 1));
  if (text.markup() == Markup::kYes) out.print(")");
}

/// A range keeps its items only; its limits are read off them.
void add_range(TextBuilder& out, const std::vector<Value>& items) {
  if (items.empty()) return void(out.print("0, 0"));
  const Integer step = items.size() > 1 ? items[1].integer() - items[0].integer() : 1;
  out.print(fmt::format("{}, {}", items.front().integer(), items.back().integer() + step));
  if (step != 1) out.print(fmt::format(", {}", step));
}

void add_sequence(Budget& budget, TextBuilder& out, const Sequence& sequence) {
  const Brackets& brackets = kBrackets[static_cast<size_t>(sequence.kind)];
  out.print(brackets.open);
  if (sequence.kind == SequenceKind::kRange) {
    add_range(out, sequence.items);
  } else if (sequence.kind != SequenceKind::kGenerator) {
    for (size_t i = 0; i < sequence.items.size(); ++i) {
      if (i > 0) out.print(", ");
      add_repr(budget, out, sequence.items[i]);
    }
    if (sequence.kind == SequenceKind::kTuple && sequence.items.size() == 1) out.print(",");
  }
  out.print(brackets.close);
}

void add_dict(Budget& budget, TextBuilder& out, const Dict& dict) {
  out.print("{");
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!std::exchange(first, false)) out.print(", ");
    add_repr(budget, out, key);
    out.print(": ");
    add_repr(budget, out, value);
  }
  out.print("}");
}

}  // namespace

void add_repr(Budget& budget, TextBuilder& out, const Value& value) {
  budget.spend_steps(1);
  switch (value.kind()) {
    case Kind::kUndefined:
      out.print("Undefined");
      break;
    case Kind::kNone:
      out.print("None");
      break;
    case Kind::kBool:
      out.print(value.boolean() ? "True" : "False");
      break;
    case Kind::kInteger:
      out.print(integer_text(value.integer()));
      break;
    case Kind::kFloat:
      out.print(float_text(value.number()));
      break;
    case Kind::kText:
      add_quoted(out, *value.text());
      break;
    case Kind::kSequence:
      add_sequence(budget, out, *value.sequence());
      break;
    case Kind::kDict:
      add_dict(budget, out, *value.dict());
      break;
    case Kind::kObject:
      out.print(fmt::format("<{}>", value.object()->type_name()));
      break;
  }
}

TextPtr to_text(Budget& budget, const Value& value) {
  if (value.is_text()) return value.text();
  TextBuilder out(budget);
  if (!value.is_undefined()) add_repr(budget, out, value);
  return std::make_shared<const Text>(out.take());
}

}  // namespace ferrox::jinja
