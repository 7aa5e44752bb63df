// What may stand between {% and %}?
#include <algorithm>
#include <array>

#include "text/jinja/parser.h"

namespace ferrox::jinja {
namespace {

constexpr std::array<std::string_view, 6> kConstants = {"true", "false", "none", "True", "False", "None"};

}  // namespace

bool Parser::at_end_tag(EndTags end_tags) const {
  return std::any_of(end_tags.begin(), end_tags.end(), [this](std::string_view tag) { return current().is_name(tag); });
}

/// Statements up to one of the end tags, whose name is then current; up to the end of the template without end tags.
Block Parser::parse_block(EndTags end_tags) {
  const Nesting nesting(*this);
  Block block;
  while (true) {
    if (current().is(TokenKind::kData)) {
      auto data = std::make_unique<Data>();
      data->at = current().position;
      data->text = std::make_shared<const Text>(take().text, Origin::kTemplate);
      block.push_back(std::move(data));
    } else if (current().is(TokenKind::kVariableBegin)) {
      block.push_back(parse_print());
    } else if (current().is(TokenKind::kBlockBegin)) {
      take();
      if (at_end_tag(end_tags)) return block;
      block.push_back(parse_statement());
      if (!current().is(TokenKind::kBlockEnd)) expected("'%}'");
      take();
    } else {
      if (end_tags.size() != 0) expected(fmt::format("'{}'", *(end_tags.end() - 1)));
      return block;
    }
  }
}

/// The body of a tag: the rest of the tag, then statements up to an end tag.
Block Parser::parse_body(EndTags end_tags) {
  skip_operator(":");
  if (!current().is(TokenKind::kBlockEnd)) expected("'%}'");
  take();
  return parse_block(end_tags);
}

void Parser::end_body(std::string_view end_tag) { expect_name(end_tag); }

StatementPtr Parser::parse_print() {
  auto print = std::make_unique<Print>();
  print->at = take().position;
  print->value = parse_tuple();
  if (!current().is(TokenKind::kVariableEnd)) expected("'}}'");
  take();
  return print;
}

StatementPtr Parser::parse_statement() {
  using Rule = StatementPtr (Parser::*)();
  static constexpr std::array<std::pair<std::string_view, Rule>, 10> kRules = {{
      {"if", &Parser::parse_if},
      {"for", &Parser::parse_for},
      {"set", &Parser::parse_set},
      {"macro", &Parser::parse_macro},
      {"call", &Parser::parse_call_block},
      {"filter", &Parser::parse_filter_block},
      {"with", &Parser::parse_with},
      {"generation", &Parser::parse_generation},
      {"break", &Parser::parse_jump},
      {"continue", &Parser::parse_jump},
  }};
  for (const auto& [name, rule] : kRules) {
    if (current().is_name(name)) return (this->*rule)();
  }
  expected("a statement (if, for, set, macro, call, filter, with, generation, break, continue)");
}

StatementPtr Parser::parse_if() {
  auto node = std::make_unique<If>();
  node->at = current().position;
  while (current().is_name("if") || current().is_name("elif")) {
    take();
    ExpressionPtr condition = parse_tuple_without_condition();
    node->branches.emplace_back(std::move(condition), parse_body({"elif", "else", "endif"}));
  }
  if (skip_name("else")) node->otherwise = parse_body({"endif"});
  end_body("endif");
  return node;
}

StatementPtr Parser::parse_for() {
  auto node = std::make_unique<For>();
  node->at = take().position;
  node->target = parse_target();
  expect_name("in");
  node->iterable = parse_tuple_without_condition();
  if (skip_name("if")) node->condition = parse_expression();
  if (skip_name("recursive")) node->recursion = For::Recursion::kYes;
  ++loops_;
  node->body = parse_body({"else", "endfor"});
  --loops_;
  if (skip_name("else")) node->otherwise = parse_body({"endfor"});
  end_body("endfor");
  return node;
}

StatementPtr Parser::parse_set() {
  const Position at = take().position;
  TargetPtr target = parse_target();
  if (skip_operator("=")) {
    auto node = std::make_unique<Set>();
    node->at = at;
    node->target = std::move(target);
    node->value = parse_tuple();
    return node;
  }
  auto node = std::make_unique<SetBlock>();
  node->at = at;
  node->target = std::move(target);
  if (skip_operator("|")) node->filters = parse_filter_chain();
  node->body = parse_body({"endset"});
  end_body("endset");
  return node;
}

std::vector<FilterCall> Parser::parse_filter_chain() {
  std::vector<FilterCall> filters;
  do {
    filters.push_back(parse_filter_call());
    filters.back().builtin = find_filter(filters.back().name);
  } while (skip_operator("|"));
  return filters;
}

StatementPtr Parser::parse_macro() {
  auto node = std::make_unique<Macro>();
  node->at = take().position;
  node->definition.name = take_assignable_name();
  parse_parameters(node->definition);
  parse_macro_body(node->definition, "endmacro");
  return node;
}

void Parser::parse_parameters(MacroDefinition& definition) {
  expect_operator("(");
  while (!current().is_operator(")")) {
    MacroParameter parameter;
    parameter.name = take_assignable_name();
    if (skip_operator("=")) {
      parameter.fallback = parse_expression();
    } else if (!definition.parameters.empty() && definition.parameters.back().fallback) {
      expected("'=': a parameter without a default can't follow one with a default");
    }
    definition.parameters.push_back(std::move(parameter));
    if (!current().is_operator(")")) expect_operator(",");
  }
  take();
}

void Parser::parse_macro_body(MacroDefinition& definition, std::string_view end_tag) {
  const size_t loops_outside = std::exchange(loops_, 0);
  macros_.push_back(&definition);
  definition.body = parse_body({end_tag});
  macros_.pop_back();
  loops_ = loops_outside;
  end_body(end_tag);
}

StatementPtr Parser::parse_call_block() {
  auto node = std::make_unique<CallBlock>();
  node->at = take().position;
  node->body.name = "caller";
  if (current().is_operator("(")) parse_parameters(node->body);
  const Position at = current().position;
  ExpressionPtr call = parse_expression();
  const auto* as_call = dynamic_cast<const CallOf*>(call.get());
  if (as_call == nullptr) fail_at(at, "expected a call of a macro");
  call.release();
  node->call.reset(as_call);
  parse_macro_body(node->body, "endcall");
  return node;
}

StatementPtr Parser::parse_filter_block() {
  auto node = std::make_unique<FilterBlock>();
  node->at = take().position;
  node->filters = parse_filter_chain();
  node->body = parse_body({"endfilter"});
  end_body("endfilter");
  return node;
}

StatementPtr Parser::parse_with() {
  auto node = std::make_unique<With>();
  node->at = take().position;
  while (!current().is(TokenKind::kBlockEnd)) {
    if (!node->names.empty()) expect_operator(",");
    TargetPtr target = parse_single_target();
    expect_operator("=");
    node->names.emplace_back(std::move(target), parse_expression());
  }
  node->body = parse_body({"endwith"});
  end_body("endwith");
  return node;
}

StatementPtr Parser::parse_generation() {
  auto node = std::make_unique<With>();
  node->at = take().position;
  node->body = parse_body({"endgeneration"});
  end_body("endgeneration");
  return node;
}

StatementPtr Parser::parse_jump() {
  if (loops_ == 0) fail_at(current().position, "'{}' outside of a loop", current().text);
  auto node = std::make_unique<Jump>();
  const Token token = take();
  node->at = token.position;
  node->flow = token.text == "break" ? Flow::kBreak : Flow::kContinue;
  return node;
}

std::string Parser::take_assignable_name() {
  const bool is_constant = std::find(kConstants.begin(), kConstants.end(), current().text) != kConstants.end();
  if (!current().is(TokenKind::kName) || is_constant) expected("a name to assign to");
  return take_name();
}

TargetPtr Parser::parse_target() {
  TargetPtr first = parse_single_target();
  if (!current().is_operator(",")) return first;
  auto tuple = std::make_unique<TupleTarget>();
  tuple->targets.push_back(std::move(first));
  while (skip_operator(",") && !current().is_name("in") && !current().is_operator("=") && !current().is_operator(")")) {
    tuple->targets.push_back(parse_single_target());
  }
  return tuple;
}

TargetPtr Parser::parse_single_target() {
  const Nesting nesting(*this);
  if (skip_operator("(")) {
    TargetPtr inner = parse_target();
    expect_operator(")");
    return inner;
  }
  std::string name = take_assignable_name();
  if (!skip_operator(".")) {
    auto node = std::make_unique<NameTarget>();
    node->name = std::move(name);
    return node;
  }
  auto node = std::make_unique<NamespaceTarget>();
  node->name = std::move(name);
  node->attribute = take_name();
  return node;
}

}  // namespace ferrox::jinja
