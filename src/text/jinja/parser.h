// How does a list of tokens become a tree?
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/statement.h"
#include "text/jinja/token.h"

namespace ferrox::jinja {

/// Recursive descent; its nesting and the height of its trees are bounded, so that no source exhausts the stack.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  /// The whole template. Throws Failure with line, column, what was expected and what was found.
  Block parse();

 private:
  class Nesting;

  // Tokens.
  const Token& current() const { return tokens_[at_]; }
  const Token& look_ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token take();
  bool skip_operator(std::string_view symbol);
  bool skip_name(std::string_view name);
  void expect_operator(std::string_view symbol);
  void expect_name(std::string_view name);
  std::string take_name();
  [[noreturn]] void expected(std::string_view what) const;

  // Statements.
  using EndTags = std::initializer_list<std::string_view>;
  Block parse_block(EndTags end_tags);
  Block parse_body(EndTags end_tags);
  void end_body(std::string_view end_tag);
  bool at_end_tag(EndTags end_tags) const;
  StatementPtr parse_print();
  StatementPtr parse_statement();
  StatementPtr parse_if();
  StatementPtr parse_for();
  StatementPtr parse_set();
  StatementPtr parse_macro();
  StatementPtr parse_call_block();
  StatementPtr parse_filter_block();
  StatementPtr parse_with();
  StatementPtr parse_generation();
  StatementPtr parse_jump();
  void parse_parameters(MacroDefinition& definition);
  void parse_macro_body(MacroDefinition& definition, std::string_view end_tag);
  std::vector<FilterCall> parse_filter_chain();

  // Targets.
  TargetPtr parse_target();
  TargetPtr parse_single_target();
  std::string take_assignable_name();

  // Expressions, loosest binding first.
  ExpressionPtr parse_tuple();
  ExpressionPtr parse_tuple_without_condition();
  ExpressionPtr parse_tuple_of(ExpressionPtr (Parser::*element)());
  bool at_tuple_end() const;
  ExpressionPtr parse_expression();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  bool take_comparison(ComparisonOperator& operation);
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary();
  ExpressionPtr parse_signed();
  ExpressionPtr parse_primary();
  ExpressionPtr parse_name();
  ExpressionPtr parse_strings();
  ExpressionPtr parse_parenthesis();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_postfix(ExpressionPtr owner);
  ExpressionPtr parse_filters(ExpressionPtr input);
  ExpressionPtr parse_attribute(ExpressionPtr owner);
  ExpressionPtr parse_subscript(ExpressionPtr owner);
  ExpressionPtr parse_call(ExpressionPtr callee);
  ExpressionPtr parse_test(ExpressionPtr input);
  ExpressionPtr binary(BinaryOperator operation, ExpressionPtr left, ExpressionPtr right, Position at);
  FilterCall parse_filter_call();
  std::string take_dotted_name();
  CallArguments parse_arguments();
  void parse_argument(CallArguments& arguments);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  size_t nesting_ = 0;
  size_t loops_ = 0;                      // loops around the statement, within the macro at hand
  std::vector<MacroDefinition*> macros_;  // being parsed, outermost first
};

/// Bounds the recursion of the parser for its lifetime.
class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser);
  ~Nesting() { --parser_.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& parser_;
};

}  // namespace ferrox::jinja
