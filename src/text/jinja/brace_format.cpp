// How is a {field} read, and which value does it name?
#include "text/jinja/brace_format.h"

#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/codepoint.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/number_format.h"
#include "text/jinja/number_text.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_text.h"

namespace ferrox::jinja {
namespace {

using Align = FormatSpec::Align;

Align align_of(char c) {
  switch (c) {
    case '<':
      return Align::kLeft;
    case '>':
      return Align::kRight;
    case '^':
      return Align::kCentre;
    case '=':
      return Align::kAfterSign;
    default:
      return Align::kDefault;
  }
}

/// Reads `[[fill]align][sign][#][0][width][grouping][.precision][type]`.
class SpecReader {
 public:
  explicit SpecReader(std::string_view spec) : rest_(spec) {}

  FormatSpec read() {
    read_align();
    if (!rest_.empty() && std::string_view("+- ").find(rest_[0]) != std::string_view::npos) result_.sign = take();
    result_.alternate = skip('#');
    if (skip('0') && result_.align == Align::kDefault) {
      result_.align = Align::kAfterSign;
      result_.fill.assign(1, '0');
    }
    result_.width = read_size(kMaxFormatWidth);
    if (!rest_.empty() && (rest_[0] == ',' || rest_[0] == '_')) result_.grouping = take();
    if (skip('.')) result_.precision = read_size(kMaxPrecision);
    if (!rest_.empty()) result_.type = take();
    if (!rest_.empty()) fail("format(): invalid format specification");
    return result_;
  }

 private:
  char take() {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }
  bool skip(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void read_align() {
    if (rest_.empty()) return;
    const size_t fill_size = char_size(rest_, 0);
    if (rest_.size() > fill_size && align_of(rest_[fill_size]) != Align::kDefault) {
      result_.fill = rest_.substr(0, fill_size);
      rest_.remove_prefix(fill_size);
    }
    result_.align = align_of(rest_[0]);
    if (result_.align != Align::kDefault) rest_.remove_prefix(1);
  }
  size_t read_size(size_t maximum) {
    size_t size = 0;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      size = size * 10 + static_cast<size_t>(take() - '0');
      if (size > maximum) fail("format(): width or precision: expected at most {}", maximum);
    }
    return size;
  }

  std::string_view rest_;
  FormatSpec result_;
};

class BraceFormatter {
 public:
  BraceFormatter(Interpreter& interpreter, const Text& format, const Arguments& arguments)
      : interpreter_(interpreter), format_(format), arguments_(arguments), out_(interpreter.budget()) {}

  Value run() {
    const std::string_view bytes = format_.bytes();
    for (size_t at = 0; at < bytes.size();) {
      const size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
      out_.add(format_, at, brace);
      if (brace == bytes.size()) break;
      if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
        out_.add(format_, brace, brace + 1);
        at = brace + 2;
        continue;
      }
      const size_t end = bytes.find('}', brace);
      if (bytes[brace] == '}' || end == std::string_view::npos)
        fail("format(): single '{}' in the format string", bytes[brace]);
      write_field(bytes.substr(brace + 1, end - brace - 1));
      at = end + 1;
    }
    out_.set_markup(format_.markup());
    return out_.take();
  }

 private:
  void write_field(std::string_view field) {
    if (field.find('{') != std::string_view::npos) fail("format(): nested fields aren't supported");
    const size_t colon = std::min(field.find(':'), field.size());
    std::string_view name = field.substr(0, colon);
    const std::string_view spec = colon < field.size() ? field.substr(colon + 1) : std::string_view();
    const size_t bang = std::min(name.find('!'), name.size());
    const std::string_view conversion = name.substr(bang);
    name = name.substr(0, bang);
    const Value value = find_value(name);
    if (conversion == "!r") {
      TextBuilder shown(interpreter_.budget());
      add_repr(interpreter_.budget(), shown, value);
      return write(SpecReader(spec).read(), shown.take());
    }
    if (conversion == "!s") return write(SpecReader(spec).read(), to_text(interpreter_.budget(), value));
    if (!conversion.empty()) fail("format(): unknown conversion '{}'", conversion);
    write(SpecReader(spec).read(), value);
  }

  void write(const FormatSpec& spec, const Value& value) {
    const bool as_text = value.is(Kind::kBool) && spec.type == '\0';
    if (value.is_number() && !as_text) return add_number(out_, spec, value);
    if (spec.type != '\0' && spec.type != 's') fail("format(): '{}' doesn't fit '{}'", spec.type, type_name(value));
    add_padded(out_, spec, *to_text(interpreter_.budget(), value));
  }

  Value find_value(std::string_view name) {
    const size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = find_argument(name.substr(0, end));
    std::string_view path = name.substr(end);
    while (!path.empty()) {
      if (path[0] == '.') {
        const size_t stop = std::min(path.find_first_of(".[", 1), path.size());
        value = get_attribute(interpreter_, value, path.substr(1, stop - 1));
        path.remove_prefix(stop);
      } else {
        const size_t stop = path.find(']');
        if (path[0] != '[' || stop == std::string_view::npos) fail("format(): expected '.' or '[' in field '{}'", name);
        value = get_item(interpreter_, value, key_of(path.substr(1, stop - 1)));
        path.remove_prefix(stop + 1);
      }
    }
    return value;
  }

  static Value key_of(std::string_view key) {
    const bool is_number = !key.empty() && key.find_first_not_of("0123456789") == std::string_view::npos;
    const auto number = is_number ? parse_integer(key, 10) : std::nullopt;
    return number ? Value(*number) : template_text(std::string(key));
  }

  Value find_argument(std::string_view name) {
    if (name.empty()) return positional(next_++);
    if (const Value key = key_of(name); key.is(Kind::kInteger)) {
      return positional(static_cast<size_t>(std::min<Integer>(key.integer(), INT32_MAX)));
    }
    for (const auto& [given, value] : arguments_.named) {
      if (given == name) return value;
    }
    fail("format(): no argument is named '{}'", name);
  }

  const Value& positional(size_t index) const {
    if (index >= arguments_.positional.size()) fail("format(): no argument at index {}", index);
    return arguments_.positional[index];
  }

  Interpreter& interpreter_;
  const Text& format_;
  const Arguments& arguments_;
  TextBuilder out_;
  size_t next_ = 0;
};

}  // namespace

Value brace_format(Interpreter& interpreter, const Text& format, const Arguments& arguments) {
  return BraceFormatter(interpreter, format, arguments).run();
}

}  // namespace ferrox::jinja
