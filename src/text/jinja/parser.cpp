// How does the parser step through its tokens?
#include "text/jinja/parser.h"

namespace ferrox::jinja {
namespace {

/// Parentheses within parentheses, blocks within blocks: real templates stay below 30.
constexpr size_t kMaxNesting = 120;

}  // namespace

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (parser_.nesting_ >= kMaxNesting) {
    fail_at(parser_.current().position, "template nests deeper than {} levels", kMaxNesting);
  }
  ++parser_.nesting_;
}

Block Parser::parse() { return parse_block({}); }

Token Parser::take() {
  Token token = std::move(tokens_[at_]);
  if (at_ + 1 < tokens_.size()) {
    ++at_;
  } else {
    tokens_[at_] = token;
  }
  return token;
}

bool Parser::skip_operator(std::string_view symbol) {
  if (!current().is_operator(symbol)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  take();
  return true;
}

void Parser::expect_operator(std::string_view symbol) {
  if (!skip_operator(symbol)) expected(fmt::format("'{}'", symbol));
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) expected(fmt::format("'{}'", name));
}

std::string Parser::take_name() {
  if (!current().is(TokenKind::kName)) expected("a name");
  return take().text;
}

void Parser::expected(std::string_view what) const {
  fail_at(current().position, "expected {}, found {}", what, describe(current()));
}

}  // namespace ferrox::jinja
