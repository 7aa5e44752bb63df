// How is a template cut into data, tags and the words within tags?
#include <array>
#include <cctype>
#include <optional>

#include "text/jinja/codepoint.h"
#include "text/jinja/string_literal.h"
#include "text/jinja/token.h"

namespace ferrox::jinja {
namespace {

/// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 26> kOperators = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                         "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                         ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};

std::string normalize_newlines(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    result.push_back(source[i] == '\r' ? '\n' : source[i]);
  }
  if (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_data();
    push(TokenKind::kEnd, "", at_);
    return std::move(tokens_);
  }

 private:
  bool starts_with(std::string_view what, size_t at) const {
    return std::string_view(source_).substr(at, what.size()) == what;
  }
  size_t skip_space(size_t at) const {
    while (at < source_.size() && is_space(char_at(source_, at))) at += char_size(source_, at);
    return at;
  }
  size_t skip_newline(size_t at) const { return at < source_.size() && source_[at] == '\n' ? at + 1 : at; }

  Position position(size_t at) {
    for (; counted_ < at; ++counted_) {
      if (source_[counted_] != '\n') continue;
      ++line_;
      line_start_ = counted_ + 1;
    }
    return {line_, at - line_start_ + 1};
  }
  void push(TokenKind kind, std::string text, size_t at) { tokens_.push_back({kind, std::move(text), position(at)}); }
  void move_to(size_t at) {
    line_starting_ = at > 0 && source_[at - 1] == '\n';
    at_ = at;
  }

  size_t find_tag(size_t from) const {
    for (size_t at = source_.find('{', from); at != std::string::npos; at = source_.find('{', at + 1)) {
      if (starts_with("{%", at) || starts_with("{{", at) || starts_with("{#", at)) return at;
    }
    return source_.size();
  }
  char sign_at(size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }

  /// Text up to the next tag, then the tag.
  void read_data() {
    const size_t tag = find_tag(at_);
    if (tag == source_.size()) {
      push_data(at_, tag);
      return move_to(tag);
    }
    const char sign = sign_at(tag + 2);
    push_data(at_, strip_before_tag(at_, tag, sign));
    const size_t inside = tag + (sign == '\0' ? 2 : 3);
    if (source_[tag + 1] == '#') return read_comment(tag, inside);
    if (source_[tag + 1] == '{') return read_tag(TokenKind::kVariableBegin, tag, inside);
    if (const auto raw = raw_begin(inside)) return read_raw(tag, *raw);
    read_tag(TokenKind::kBlockBegin, tag, inside);
  }

  void push_data(size_t begin, size_t end) {
    if (begin < end) push(TokenKind::kData, source_.substr(begin, end - begin), begin);
  }

  /// Where the text before a tag ends once `{%-` or left-stripping has taken its part.
  size_t strip_before_tag(size_t begin, size_t tag, char sign) const {
    const std::string_view text = std::string_view(source_).substr(begin, tag - begin);
    if (sign == '-') return begin + trim_end(text);
    if (sign == '+' || source_[tag + 1] == '{') return tag;
    const size_t newline = text.rfind('\n');
    if (newline == std::string_view::npos && !line_starting_) return tag;
    const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    return trim_end(text.substr(line)) == 0 ? begin + line : tag;
  }
  static size_t trim_end(std::string_view text) {
    const ByteRange kept = trim_space(text);
    return kept.begin == text.size() ? 0 : kept.end;
  }

  void read_comment(size_t tag, size_t inside) {
    const size_t end = source_.find("#}", inside);
    if (end == std::string::npos) fail_at(position(tag), "comment isn't closed: expected '#}}'");
    const char sign = end > inside ? source_[end - 1] : '\0';
    if (sign == '-') return move_to(skip_space(end + 2));
    move_to(sign == '+' ? end + 2 : skip_newline(end + 2));
  }

  /// Where the data of `{% raw %}` begins, when that is the tag at hand.
  std::optional<size_t> raw_begin(size_t inside) const {
    size_t at = skip_space(inside);
    if (!starts_with("raw", at)) return std::nullopt;
    at = skip_space(at + 3);
    if (starts_with("-%}", at)) return skip_space(at + 3);
    if (starts_with("%}", at)) return at + 2;
    return std::nullopt;
  }

  /// Where `{% endraw %}`, which starts at `tag`, ends, when that is what is there.
  std::optional<size_t> raw_end(size_t tag) const {
    size_t at = skip_space(tag + (sign_at(tag + 2) == '\0' ? 2 : 3));
    if (!starts_with("endraw", at)) return std::nullopt;
    return tag_end(skip_space(at + 6), "%}");
  }

  void read_raw(size_t tag, size_t data) {
    line_starting_ = source_[data - 1] == '\n';
    for (size_t end = source_.find("{%", data); end != std::string::npos; end = source_.find("{%", end + 1)) {
      const auto after = raw_end(end);
      if (!after) continue;
      push_data(data, strip_before_tag(data, end, sign_at(end + 2)));
      return move_to(*after);
    }
    fail_at(position(tag), "raw block isn't closed: expected 'endraw'");
  }

  /// Where a tag that closes at `at` ends, white space control applied; nothing when it doesn't close here.
  std::optional<size_t> tag_end(size_t at, std::string_view close) const {
    if (starts_with(close, at)) return close == "%}" ? skip_newline(at + 2) : at + 2;
    if (at >= source_.size() || !starts_with(close, at + 1)) return std::nullopt;
    if (source_[at] == '-') return skip_space(at + 3);
    if (source_[at] == '+' && close == "%}") return at + 3;
    return std::nullopt;
  }

  void read_tag(TokenKind begin, size_t tag, size_t inside) {
    const bool is_block = begin == TokenKind::kBlockBegin;
    const std::string_view close = is_block ? "%}" : "}}";
    push(begin, is_block ? "{%" : "{{", tag);
    open_.clear();
    for (size_t at = skip_space(inside); at < source_.size(); at = skip_space(at)) {
      const auto end = open_.empty() ? tag_end(at, close) : std::nullopt;
      if (end) {
        push(is_block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, std::string(close), at);
        return move_to(*end);
      }
      at = read_word(at);
    }
    at_ = source_.size();
  }

  /// Reads one word that starts at `at`; returns where it ends.
  size_t read_word(size_t at) {
    const char c = source_[at];
    if (is_digit(c)) return read_number(at);
    if (is_name_byte(c)) return read_name(at);
    if (c == '\'' || c == '"') return read_string(at);
    for (const std::string_view symbol : kOperators) {
      if (starts_with(symbol, at)) return read_operator(at, symbol);
    }
    fail_at(position(at), "expected a word of an expression, found '{}'", encode(char_at(source_, at)));
  }

  size_t read_name(size_t at) {
    size_t end = at;
    while (end < source_.size() && is_name_byte(source_[end])) ++end;
    push(TokenKind::kName, source_.substr(at, end - at), at);
    return end;
  }

  size_t read_string(size_t at) {
    size_t end = at + 1;
    while (end < source_.size() && source_[end] != source_[at]) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(position(at), "string isn't closed: expected {}", source_[at]);
    push(TokenKind::kString, unescape_literal(source_.substr(at + 1, end - at - 1), position(at)), at);
    return end + 1;
  }

  size_t digits_end(size_t at) const {
    while (at < source_.size() &&
           (is_digit(source_[at]) || (source_[at] == '_' && at + 1 < source_.size() && is_digit(source_[at + 1])))) {
      ++at;
    }
    return at;
  }

  size_t read_number(size_t at) {
    if (const size_t end = based_integer_end(at); end != at) {
      push(TokenKind::kInteger, source_.substr(at, end - at), at);
      return end;
    }
    const size_t whole = digits_end(at);
    size_t end = whole;
    if (at == 0 || source_[at - 1] != '.') end = fraction_and_exponent_end(whole);
    push(end == whole ? TokenKind::kInteger : TokenKind::kFloat, source_.substr(at, end - at), at);
    return end;
  }

  /// The end of 0x1F, 0o17 or 0b11; `at` when it is none of them.
  size_t based_integer_end(size_t at) const {
    if (source_[at] != '0' || at + 2 >= source_.size()) return at;
    const char base = static_cast<char>(std::tolower(static_cast<unsigned char>(source_[at + 1])));
    if (base != 'x' && base != 'o' && base != 'b') return at;
    size_t end = at + 2;
    while (end < source_.size() && std::isxdigit(static_cast<unsigned char>(source_[end])) != 0) ++end;
    return end == at + 2 ? at : end;
  }

  size_t fraction_and_exponent_end(size_t at) const {
    if (at + 1 < source_.size() && source_[at] == '.' && is_digit(source_[at + 1])) at = digits_end(at + 1);
    if (at < source_.size() && (source_[at] == 'e' || source_[at] == 'E')) {
      size_t exponent = at + 1;
      if (sign_at(exponent) != '\0') ++exponent;
      if (exponent < source_.size() && is_digit(source_[exponent])) return digits_end(exponent);
    }
    return at;
  }

  size_t read_operator(size_t at, std::string_view symbol) {
    if (symbol == "(" || symbol == "[" || symbol == "{") open_.push_back(symbol[0]);
    if (symbol == ")" || symbol == "]" || symbol == "}") close_bracket(at, symbol[0]);
    push(TokenKind::kOperator, std::string(symbol), at);
    return at + symbol.size();
  }

  void close_bracket(size_t at, char closing) {
    const char opening = closing == ')' ? '(' : closing == ']' ? '[' : '{';
    if (open_.empty()) fail_at(position(at), "unexpected '{}'", closing);
    if (open_.back() != opening) {
      fail_at(position(at), "expected the bracket that closes '{}', found '{}'", open_.back(), closing);
    }
    open_.pop_back();
  }

  std::string source_;
  size_t at_ = 0;
  bool line_starting_ = true;  // the byte before at_ ends a line
  std::string open_;           // brackets that wait for their partner
  std::vector<Token> tokens_;
  size_t counted_ = 0;  // line_ and line_start_ describe this byte
  size_t line_ = 1;
  size_t line_start_ = 0;
};

}  // namespace

std::string describe(const Token& token) {
  if (token.is(TokenKind::kEnd)) return "end of template";
  if (token.is(TokenKind::kData)) return "text";
  if (token.is(TokenKind::kString)) return "string '" + token.text.substr(0, 40) + "'";
  return "'" + token.text + "'";
}

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace ferrox::jinja
