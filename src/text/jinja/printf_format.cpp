// How is a % directive read, and which value does it take?
#include "text/jinja/printf_format.h"

#include <cmath>

#include "text/jinja/number_format.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_text.h"

namespace ferrox::jinja {
namespace {

class PrintfFormatter {
 public:
  PrintfFormatter(Budget& budget, const Text& format, const Value& values)
      : budget_(budget), format_(format), bytes_(format.bytes()), values_(values), out_(budget) {}

  Value run() {
    while (at_ < bytes_.size()) {
      const size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
      out_.add(format_, at_, percent);
      at_ = percent + 1;
      if (percent < bytes_.size()) read_directive();
    }
    if (n_used_ < n_wanted()) fail("not all arguments were converted by the format string");
    out_.set_markup(format_.markup());
    return out_.take();
  }

 private:
  char peek() const {
    if (at_ >= bytes_.size()) fail("incomplete format at the end of the string");
    return bytes_[at_];
  }

  /// Values that must be used: all of a tuple, a scalar; what can be subscripted may stay unused.
  size_t n_wanted() const {
    if (values_.is_sequence(SequenceKind::kTuple)) return values_.items().size();
    return values_.is_dict() || values_.is(Kind::kSequence) || values_.is_undefined() ? 0 : 1;
  }

  Value next_value() {
    const bool is_tuple = values_.is_sequence(SequenceKind::kTuple);
    const size_t n_values = is_tuple ? values_.items().size() : 1;
    if (n_used_ >= n_values) fail("not enough arguments for the format string");
    ++n_used_;
    return is_tuple ? values_.items()[n_used_ - 1] : values_;
  }

  Value named_value() {
    const size_t end = bytes_.find(')', at_);
    if (end == std::string_view::npos) fail("incomplete format key");
    if (!values_.is_dict()) fail("format requires a mapping");
    const std::string_view key = bytes_.substr(at_ + 1, end - at_ - 1);
    const Value* value = values_.dict()->find(key);
    if (value == nullptr) fail("format key '{}' isn't there", key);
    at_ = end + 1;
    return *value;
  }

  size_t read_size(size_t maximum) {
    Integer size = 0;
    if (peek() == '*') {
      ++at_;
      const Value given = next_value();
      if (!given.is_integral()) fail("* wants int");
      size = given.integer();
    }
    for (; peek() >= '0' && peek() <= '9' && size <= static_cast<Integer>(maximum); ++at_)
      size = size * 10 + (peek() - '0');
    if (size < 0 || size > static_cast<Integer>(maximum))
      fail("format width or precision: expected at most {}", maximum);
    return static_cast<size_t>(size);
  }

  void read_flags(FormatSpec& spec) {
    for (;; ++at_) {
      switch (peek()) {
        case '-':
          spec.align = FormatSpec::Align::kLeft;
          break;
        case '0':
          zero_ = true;
          break;
        case '+':
          spec.sign = '+';
          break;
        case ' ':
          spec.sign = spec.sign == '+' ? '+' : ' ';
          break;
        case '#':
          spec.alternate = true;
          break;
        default:
          return;
      }
    }
  }

  void read_directive() {
    FormatSpec spec;
    spec.align = FormatSpec::Align::kRight;
    zero_ = false;
    std::optional<Value> value;
    if (peek() == '(') value = named_value();
    read_flags(spec);
    spec.width = read_size(kMaxFormatWidth);
    if (peek() == '.') {
      ++at_;
      spec.precision = read_size(kMaxPrecision);
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    spec.type = peek();
    ++at_;
    if (spec.type == '%') return void(out_.print("%"));
    write(spec, value ? *value : next_value());
  }

  void write(FormatSpec& spec, const Value& value) {
    if (spec.type == 's') return add_padded(out_, spec, *to_text(budget_, value));
    if (spec.type == 'r' || spec.type == 'a') {
      TextBuilder shown(budget_);
      add_repr(budget_, shown, value);
      return add_padded(out_, spec, shown.take());
    }
    if (spec.type == 'c' && value.is_text()) return add_padded(out_, spec, *value.text());
    refuse_undefined(value);
    if (!value.is_number()) fail("format '%{}': expected a number, found '{}'", spec.type, type_name(value));
    if (zero_ && spec.align == FormatSpec::Align::kRight) {
      spec.align = FormatSpec::Align::kAfterSign;
      spec.fill.assign(1, '0');
    }
    write_number(spec, value);
  }

  void write_number(FormatSpec& spec, const Value& value) {
    if (spec.type == 'i' || spec.type == 'u') spec.type = 'd';
    if (std::string_view("dxXoceEfFgG").find(spec.type) == std::string_view::npos) {
      fail("unsupported format character '{}'", spec.type);
    }
    if (spec.type != 'd' || !value.is(Kind::kFloat)) return add_number(out_, spec, value);
    if (!(std::fabs(value.number()) < 1e38)) fail("cannot convert {} to integer", value.number());
    add_number(out_, spec, Value(static_cast<Integer>(value.number())));
  }

  Budget& budget_;
  const Text& format_;
  std::string_view bytes_;
  const Value& values_;
  TextBuilder out_;
  size_t at_ = 0;
  size_t n_used_ = 0;
  bool zero_ = false;
};

}  // namespace

Value printf_format(Budget& budget, const Text& format, const Value& values) {
  return PrintfFormatter(budget, format, values).run();
}

}  // namespace ferrox::jinja
