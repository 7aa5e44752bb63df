// What are the words of a template?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/failure.h"

namespace ferrox::jinja {

enum class TokenKind : uint8_t {
  kData,           ///< text between tags, white space control applied
  kVariableBegin,  ///< {{
  kVariableEnd,    ///< }}
  kBlockBegin,     ///< {%
  kBlockEnd,       ///< %}
  kName,
  kString,    ///< text is unescaped
  kInteger,   ///< text is as written
  kFloat,     ///< text is as written
  kOperator,  ///< text is the operator
  kEnd,
};

struct Token {
  TokenKind kind;
  std::string text;
  Position position;

  bool is(TokenKind wanted) const { return kind == wanted; }
  bool is_name(std::string_view name) const { return kind == TokenKind::kName && text == name; }
  bool is_operator(std::string_view name) const { return kind == TokenKind::kOperator && text == name; }
};

/// How a token is named in messages: "'endif'", "end of template", ...
std::string describe(const Token& token);

/// Splits a template; the last token is kEnd. Blocks are trimmed (the newline after a tag) and left-stripped (the
/// blanks before one), as chat templates expect. Throws Failure.
std::vector<Token> tokenize(std::string_view source);

}  // namespace ferrox::jinja
