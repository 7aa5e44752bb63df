// Which bytes stand for a value in JSON?
#include "text/jinja/json_text.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/codepoint.h"
#include "text/jinja/number_text.h"
#include "text/jinja/operators.h"

namespace ferrox::jinja {
namespace {

std::string unicode_escape(char32_t c) {
  if (c < 0x10000) return fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
  const auto rest = static_cast<uint32_t>(c - 0x10000);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

std::string escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    default:
      return unicode_escape(static_cast<unsigned char>(c));
  }
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

std::string json_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return float_text(value);
}

class JsonWriter {
 public:
  JsonWriter(Budget& budget, const JsonStyle& style) : budget_(budget), style_(style), out_(budget) {}

  void write(const Value& value) {
    budget_.spend_steps(1);
    switch (value.kind()) {
      case Kind::kNone:
        out_.print("null");
        break;
      case Kind::kBool:
        out_.print(value.boolean() ? "true" : "false");
        break;
      case Kind::kInteger:
        out_.print(integer_text(value.integer()));
        break;
      case Kind::kFloat:
        out_.print(json_float(value.number()));
        break;
      case Kind::kText:
        write_string(*value.text());
        break;
      case Kind::kDict:
        write_dict(*value.dict());
        break;
      case Kind::kSequence:
        write_list(value);
        break;
      default:
        refuse(value);
    }
  }

  Text take() { return out_.take(); }

 private:
  [[noreturn]] static void refuse(const Value& value) {
    fail("tojson: object of type {} is not JSON serializable", type_name(value));
  }

  void write_string(const Text& text) {
    out_.print("\"");
    text.for_each_run(0, text.size(), [this](std::string_view bytes, Origin origin) { write_run(bytes, origin); });
    out_.print("\"");
  }

  bool is_plain(char c) const {
    return !needs_escape(c) && (style_.non_ascii == NonAscii::kKeep || static_cast<unsigned char>(c) < 0x80);
  }

  void write_run(std::string_view bytes, Origin origin) {
    for (size_t at = 0; at < bytes.size();) {
      size_t end = at;
      while (end < bytes.size() && is_plain(bytes[end])) ++end;
      out_.add(bytes.substr(at, end - at), origin);
      if (end == bytes.size()) return;
      const bool is_control = needs_escape(bytes[end]);
      out_.add(is_control ? escape(bytes[end]) : unicode_escape(char_at(bytes, end)), origin);
      at = end + (is_control ? 1 : char_size(bytes, end));
    }
  }

  void begin_level() { ++level_; }
  void end_level(std::string_view bracket) {
    --level_;
    break_line();
    out_.print(bracket);
  }
  void break_line() {
    if (!style_.indent) return;
    out_.print("\n").repeat(Text(*style_.indent, Origin::kTemplate), level_);
  }
  void begin_item(size_t index) {
    if (index > 0) out_.print(style_.item_separator);
    break_line();
  }

  void write_list(const Value& value) {
    const SequenceKind kind = value.sequence()->kind;
    if (kind != SequenceKind::kList && kind != SequenceKind::kTuple && kind != SequenceKind::kGroup) refuse(value);
    if (value.items().empty()) return void(out_.print("[]"));
    out_.print("[");
    begin_level();
    for (size_t i = 0; i < value.items().size(); ++i) {
      begin_item(i);
      write(value.items()[i]);
    }
    end_level("]");
  }

  void write_dict(const Dict& dict) {
    if (dict.size() == 0) return void(out_.print("{}"));
    budget_.spend_bytes(dict.size() * sizeof(void*));
    std::vector<const Dict::Entry*> entries;
    for (const auto& entry : dict.entries()) entries.push_back(&entry);
    if (style_.key_order == KeyOrder::kSorted) {
      std::stable_sort(entries.begin(), entries.end(), [this](const Dict::Entry* a, const Dict::Entry* b) {
        return less(budget_, a->first, b->first);
      });
    }
    out_.print("{");
    begin_level();
    for (size_t i = 0; i < entries.size(); ++i) {
      begin_item(i);
      write_key(entries[i]->first);
      out_.print(style_.key_separator);
      write(entries[i]->second);
    }
    end_level("}");
  }

  void write_key(const Value& key) {
    if (key.is_text()) return write_string(*key.text());
    if (!key.is_number() && !key.is_none()) {
      fail("tojson: keys must be str, int, float, bool or None, not {}", type_name(key));
    }
    out_.print("\"");
    write(key);
    out_.print("\"");
  }

  Budget& budget_;
  const JsonStyle& style_;
  TextBuilder out_;
  size_t level_ = 0;
};

}  // namespace

Value to_json(Budget& budget, const Value& value, const JsonStyle& style) {
  JsonWriter writer(budget, style);
  writer.write(value);
  return writer.take();
}

}  // namespace ferrox::jinja
