// In which order do operators bind?
#include <algorithm>

#include "text/jinja/number_text.h"
#include "text/jinja/parser.h"

namespace ferrox::jinja {
namespace {

/// Operators in a row count as levels too, since they nest to the left. Real templates stay below 60.
constexpr size_t kMaxHeight = 300;

size_t height_of(const ExpressionPtr& node) { return node ? node->height : 0; }

size_t height_of(const std::pair<ExpressionPtr, ExpressionPtr>& pair) {
  return std::max(height_of(pair.first), height_of(pair.second));
}

template <class Key>
size_t height_of(const std::pair<Key, ExpressionPtr>& pair) {
  return height_of(pair.second);
}

template <class Item>
size_t height_of(const std::vector<Item>& items) {
  size_t height = 0;
  for (const Item& item : items) height = std::max(height, height_of(item));
  return height;
}

size_t height_of(const CallArguments& arguments) {
  return std::max({height_of(arguments.positional), height_of(arguments.named), height_of(arguments.unpacked),
                   height_of(arguments.unpacked_named)});
}

/// Gives a finished node its place and height.
template <class Node, class... Parts>
ExpressionPtr finish(std::unique_ptr<Node> node, Position at, const Parts&... parts) {
  node->at = at;
  node->height = 1 + std::max({size_t{0}, height_of(parts)...});
  if (node->height > kMaxHeight) fail_at(at, "expression nests deeper than {} levels", kMaxHeight);
  return node;
}

ExpressionPtr constant(Value value, Position at) {
  auto node = std::make_unique<Constant>();
  node->value = std::move(value);
  return finish(std::move(node), at);
}

ExpressionPtr logical(Logical::Operation operation, ExpressionPtr left, ExpressionPtr right, Position at) {
  auto node = std::make_unique<Logical>();
  node->operation = operation;
  node->left = std::move(left);
  node->right = std::move(right);
  const auto& made = *node;
  return finish(std::move(node), at, made.left, made.right);
}

ExpressionPtr unary(UnaryOperator operation, ExpressionPtr operand, Position at) {
  auto node = std::make_unique<Unary>();
  node->operation = operation;
  node->operand = std::move(operand);
  const auto& made = *node;
  return finish(std::move(node), at, made.operand);
}

}  // namespace

ExpressionPtr Parser::binary(BinaryOperator operation, ExpressionPtr left, ExpressionPtr right, Position at) {
  auto node = std::make_unique<Binary>();
  node->operation = operation;
  node->left = std::move(left);
  node->right = std::move(right);
  const auto& made = *node;
  return finish(std::move(node), at, made.left, made.right);
}

ExpressionPtr Parser::parse_tuple() { return parse_tuple_of(&Parser::parse_expression); }

ExpressionPtr Parser::parse_tuple_without_condition() { return parse_tuple_of(&Parser::parse_or); }

bool Parser::at_tuple_end() const {
  const Token& token = current();
  return token.is(TokenKind::kVariableEnd) || token.is(TokenKind::kBlockEnd) || token.is_operator(")") ||
         token.is_name("recursive");
}

ExpressionPtr Parser::parse_tuple_of(ExpressionPtr (Parser::*element)()) {
  const Position at = current().position;
  ExpressionPtr first = (this->*element)();
  if (!current().is_operator(",")) return first;
  auto tuple = std::make_unique<SequenceLiteral>();
  tuple->kind = SequenceKind::kTuple;
  tuple->items.push_back(std::move(first));
  while (skip_operator(",") && !at_tuple_end()) tuple->items.push_back((this->*element)());
  const auto& made = *tuple;
  return finish(std::move(tuple), at, made.items);
}

ExpressionPtr Parser::parse_expression() {
  const Nesting nesting(*this);
  ExpressionPtr value = parse_or();
  while (current().is_name("if")) {
    auto node = std::make_unique<Conditional>();
    const Position at = take().position;
    node->then = std::move(value);
    node->condition = parse_or();
    if (skip_name("else")) node->otherwise = parse_expression();
    const auto& made = *node;
    value = finish(std::move(node), at, made.then, made.condition, made.otherwise);
  }
  return value;
}

ExpressionPtr Parser::parse_or() {
  ExpressionPtr left = parse_and();
  while (current().is_name("or")) {
    const Position at = take().position;
    left = logical(Logical::Operation::kOr, std::move(left), parse_and(), at);
  }
  return left;
}

ExpressionPtr Parser::parse_and() {
  ExpressionPtr left = parse_not();
  while (current().is_name("and")) {
    const Position at = take().position;
    left = logical(Logical::Operation::kAnd, std::move(left), parse_not(), at);
  }
  return left;
}

ExpressionPtr Parser::parse_not() {
  const Nesting nesting(*this);
  if (!current().is_name("not")) return parse_comparison();
  const Position at = take().position;
  return unary(UnaryOperator::kNot, parse_not(), at);
}

bool Parser::take_comparison(ComparisonOperator& operation) {
  if (current().is(TokenKind::kOperator)) {
    const auto found = find_comparison(current().text);
    if (!found) return false;
    operation = *found;
    take();
    return true;
  }
  if (current().is_name("not") && look_ahead().is_name("in")) {
    take();
    take();
    operation = ComparisonOperator::kNotIn;
    return true;
  }
  operation = ComparisonOperator::kIn;
  return skip_name("in");
}

ExpressionPtr Parser::parse_comparison() {
  const Position at = current().position;
  ExpressionPtr first = parse_sum();
  auto node = std::make_unique<Comparison>();
  ComparisonOperator operation{};
  while (take_comparison(operation)) node->rest.emplace_back(operation, parse_sum());
  if (node->rest.empty()) return first;
  node->first = std::move(first);
  const auto& made = *node;
  return finish(std::move(node), at, made.first, made.rest);
}

ExpressionPtr Parser::parse_sum() {
  ExpressionPtr left = parse_concatenation();
  while (current().is_operator("+") || current().is_operator("-")) {
    const Token token = take();
    const auto operation = token.text == "+" ? BinaryOperator::kAdd : BinaryOperator::kSubtract;
    left = binary(operation, std::move(left), parse_concatenation(), token.position);
  }
  return left;
}

ExpressionPtr Parser::parse_concatenation() {
  const Position at = current().position;
  ExpressionPtr first = parse_product();
  if (!current().is_operator("~")) return first;
  auto node = std::make_unique<Concatenation>();
  node->parts.push_back(std::move(first));
  while (skip_operator("~")) node->parts.push_back(parse_product());
  const auto& made = *node;
  return finish(std::move(node), at, made.parts);
}

ExpressionPtr Parser::parse_product() {
  ExpressionPtr left = parse_power();
  while (current().is(TokenKind::kOperator)) {
    const auto operation = find_product_operator(current().text);
    if (!operation) break;
    const Position at = take().position;
    left = binary(*operation, std::move(left), parse_power(), at);
  }
  return left;
}

ExpressionPtr Parser::parse_power() {
  ExpressionPtr left = parse_unary();
  while (current().is_operator("**")) {
    const Position at = take().position;
    left = binary(BinaryOperator::kPower, std::move(left), parse_unary(), at);
  }
  return left;
}

ExpressionPtr Parser::parse_unary() { return parse_filters(parse_signed()); }

ExpressionPtr Parser::parse_signed() {
  const Nesting nesting(*this);
  if (!current().is_operator("-") && !current().is_operator("+")) return parse_postfix(parse_primary());
  const Token token = take();
  const auto operation = token.text == "-" ? UnaryOperator::kMinus : UnaryOperator::kPlus;
  return parse_postfix(unary(operation, parse_signed(), token.position));
}

ExpressionPtr Parser::parse_primary() {
  const Token& token = current();
  const Position at = token.position;
  switch (token.kind) {
    case TokenKind::kName:
      return parse_name();
    case TokenKind::kString:
      return parse_strings();
    case TokenKind::kInteger:
      return constant(parse_integer_literal(take().text, at), at);
    case TokenKind::kFloat:
      return constant(parse_float_literal(take().text), at);
    default:
      break;
  }
  if (token.is_operator("(")) return parse_parenthesis();
  if (token.is_operator("[")) return parse_list();
  if (token.is_operator("{")) return parse_dict();
  expected("an expression");
}

ExpressionPtr Parser::parse_name() {
  Token token = take();
  if (token.text == "true" || token.text == "True") return constant(true, token.position);
  if (token.text == "false" || token.text == "False") return constant(false, token.position);
  if (token.text == "none" || token.text == "None") return constant(None{}, token.position);
  for (MacroDefinition* macro : macros_) {
    macro->uses_varargs |= token.text == "varargs";
    macro->uses_kwargs |= token.text == "kwargs";
    macro->uses_caller |= token.text == "caller";
  }
  auto node = std::make_unique<Name>();
  node->name = std::move(token.text);
  return finish(std::move(node), token.position);
}

ExpressionPtr Parser::parse_strings() {
  const Position at = current().position;
  std::string text;
  while (current().is(TokenKind::kString)) text += take().text;
  return constant(template_text(std::move(text)), at);
}

ExpressionPtr Parser::parse_parenthesis() {
  const Position at = take().position;
  if (skip_operator(")")) {
    auto empty = std::make_unique<SequenceLiteral>();
    empty->kind = SequenceKind::kTuple;
    return finish(std::move(empty), at);
  }
  ExpressionPtr inner = parse_tuple();
  expect_operator(")");
  return inner;
}

ExpressionPtr Parser::parse_list() {
  const Position at = take().position;
  auto list = std::make_unique<SequenceLiteral>();
  while (!current().is_operator("]")) {
    if (!list->items.empty()) expect_operator(",");
    if (current().is_operator("]")) break;
    list->items.push_back(parse_expression());
  }
  expect_operator("]");
  const auto& made = *list;
  return finish(std::move(list), at, made.items);
}

ExpressionPtr Parser::parse_dict() {
  const Position at = take().position;
  auto dict = std::make_unique<DictLiteral>();
  while (!current().is_operator("}")) {
    if (!dict->entries.empty()) expect_operator(",");
    if (current().is_operator("}")) break;
    ExpressionPtr key = parse_expression();
    expect_operator(":");
    dict->entries.emplace_back(std::move(key), parse_expression());
  }
  expect_operator("}");
  const auto& made = *dict;
  return finish(std::move(dict), at, made.entries);
}

ExpressionPtr Parser::parse_postfix(ExpressionPtr owner) {
  while (true) {
    if (current().is_operator(".")) {
      owner = parse_attribute(std::move(owner));
    } else if (current().is_operator("[")) {
      owner = parse_subscript(std::move(owner));
    } else if (current().is_operator("(")) {
      owner = parse_call(std::move(owner));
    } else {
      return owner;
    }
  }
}

ExpressionPtr Parser::parse_filters(ExpressionPtr input) {
  while (true) {
    if (skip_operator("|")) {
      auto node = std::make_unique<Filtered>();
      node->input = std::move(input);
      node->filter = parse_filter_call();
      node->filter.builtin = find_filter(node->filter.name);
      const auto& made = *node;
      input = finish(std::move(node), made.filter.at, made.input, made.filter.arguments);
    } else if (current().is_name("is")) {
      input = parse_test(std::move(input));
    } else if (current().is_operator("(")) {
      input = parse_call(std::move(input));
    } else {
      return input;
    }
  }
}

ExpressionPtr Parser::parse_attribute(ExpressionPtr owner) {
  const Position at = take().position;
  if (current().is(TokenKind::kInteger)) {
    auto item = std::make_unique<ItemOf>();
    item->owner = std::move(owner);
    item->index = parse_primary();
    const auto& made = *item;
    return finish(std::move(item), at, made.owner, made.index);
  }
  auto node = std::make_unique<AttributeOf>();
  node->owner = std::move(owner);
  node->name = take_name();
  const auto& made = *node;
  return finish(std::move(node), at, made.owner);
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr owner) {
  const Position at = take().position;
  ExpressionPtr start = current().is_operator(":") ? nullptr : parse_tuple();
  if (!current().is_operator(":")) {
    expect_operator("]");
    auto item = std::make_unique<ItemOf>();
    item->owner = std::move(owner);
    item->index = std::move(start);
    const auto& made = *item;
    return finish(std::move(item), at, made.owner, made.index);
  }
  auto node = std::make_unique<SliceOf>();
  node->owner = std::move(owner);
  node->start = std::move(start);
  take();
  if (!current().is_operator(":") && !current().is_operator("]")) node->stop = parse_expression();
  if (skip_operator(":") && !current().is_operator("]")) node->step = parse_expression();
  expect_operator("]");
  const auto& made = *node;
  return finish(std::move(node), at, made.owner, made.start, made.stop, made.step);
}

ExpressionPtr Parser::parse_call(ExpressionPtr callee) {
  auto node = std::make_unique<CallOf>();
  const Position at = current().position;
  node->callee = std::move(callee);
  node->arguments = parse_arguments();
  const auto& made = *node;
  return finish(std::move(node), at, made.callee, made.arguments);
}

std::string Parser::take_dotted_name() {
  std::string name = take_name();
  while (skip_operator(".")) name.append(1, '.').append(take_name());
  return name;
}

FilterCall Parser::parse_filter_call() {
  FilterCall filter;
  filter.at = current().position;
  filter.name = take_dotted_name();
  if (current().is_operator("(")) filter.arguments = parse_arguments();
  return filter;
}

ExpressionPtr Parser::parse_test(ExpressionPtr input) {
  const Position at = take().position;
  const bool negated = skip_name("not");
  auto node = std::make_unique<Tested>();
  node->input = std::move(input);
  node->test.at = at;
  node->test.name = take_dotted_name();
  node->test.builtin = find_test(node->test.name);
  const Token& token = current();
  const bool ends = token.is_name("else") || token.is_name("or") || token.is_name("and");
  if (token.is_operator("(")) {
    node->test.arguments = parse_arguments();
  } else if (token.is_name("is")) {
    expected("'and', 'or' or the end of the expression (tests can't be chained)");
  } else if ((token.is(TokenKind::kName) && !ends) || token.is(TokenKind::kString) || token.is(TokenKind::kInteger) ||
             token.is(TokenKind::kFloat) || token.is_operator("[") || token.is_operator("{")) {
    node->test.arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  const auto& made = *node;
  ExpressionPtr test = finish(std::move(node), at, made.input, made.test.arguments);
  return negated ? unary(UnaryOperator::kNot, std::move(test), at) : std::move(test);
}

CallArguments Parser::parse_arguments() {
  const Nesting nesting(*this);
  CallArguments arguments;
  take();
  while (!current().is_operator(")")) {
    parse_argument(arguments);
    if (!current().is_operator(")")) expect_operator(",");
  }
  take();
  return arguments;
}

void Parser::parse_argument(CallArguments& arguments) {
  if (arguments.unpacked_named) expected("')' after '**' arguments");
  if (current().is_operator("*")) {
    if (arguments.unpacked) expected("one '*' argument");
    take();
    arguments.unpacked = parse_expression();
  } else if (skip_operator("**")) {
    arguments.unpacked_named = parse_expression();
  } else if (current().is(TokenKind::kName) && look_ahead().is_operator("=")) {
    std::string name = take().text;
    take();
    arguments.named.emplace_back(std::move(name), parse_expression());
  } else {
    if (arguments.unpacked || !arguments.named.empty()) expected("a named argument");
    arguments.positional.push_back(parse_expression());
  }
}

}  // namespace ferrox::jinja
