// How do source and variables become a prompt, or an error?
#include "text/jinja/template.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "text/jinja/interpreter.h"
#include "text/jinja/parser.h"
#include "text/jinja/raised.h"

namespace ferrox {

struct JinjaTemplate::Parsed {
  jinja::Block block;
  std::vector<std::string> names;  // every name and string in the source, sorted
};

namespace {

Error to_error(const jinja::Failure& failure, jinja::Position fallback) {
  const jinja::Position at = failure.position.value_or(fallback);
  return make_error(ErrorCode::kInvalidArgument, "template line {}, column {}: {}", at.line, at.column,
                    failure.message);
}

std::vector<std::string> names_in(const std::vector<jinja::Token>& tokens) {
  std::vector<std::string> names;
  for (const jinja::Token& token : tokens) {
    if (token.is(jinja::TokenKind::kName) || token.is(jinja::TokenKind::kString)) names.push_back(token.text);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::tm local_time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

std::vector<PromptSegment> to_segments(const jinja::Text& text) {
  std::vector<PromptSegment> segments;
  text.for_each_run(0, text.size(), [&segments](std::string_view bytes, jinja::Origin origin) {
    segments.push_back({std::string(bytes), origin == jinja::Origin::kTemplate});
  });
  return segments;
}

}  // namespace

std::string Rendered::text() const {
  std::string all;
  for (const PromptSegment& segment : segments_) all += segment.text;
  return all;
}

Result<JinjaTemplate> JinjaTemplate::parse(std::string_view source) {
  try {
    auto parsed = std::make_shared<Parsed>();
    std::vector<jinja::Token> tokens = jinja::tokenize(source);
    parsed->names = names_in(tokens);
    parsed->block = jinja::Parser(std::move(tokens)).parse();
    return JinjaTemplate(std::move(parsed));
  } catch (const jinja::Failure& failure) {
    return to_error(failure, {});
  }
}

Result<Rendered> JinjaTemplate::render(const nlohmann::ordered_json& variables, const RenderOptions& options) const {
  const jinja::Inputs inputs{variables, options.trusted, options.now ? *options.now : local_time_now()};
  jinja::Interpreter interpreter(inputs, options.limits);
  try {
    return Rendered(to_segments(interpreter.render(parsed_->block)));
  } catch (const jinja::Failure& failure) {
    return to_error(failure, interpreter.position());
  }
}

bool JinjaTemplate::mentions(std::string_view variable) const {
  return std::binary_search(parsed_->names.begin(), parsed_->names.end(), variable);
}

std::optional<std::string> raised_message(const Error& error) {
  const size_t at = error.message.find(jinja::kRaised);
  if (error.code != ErrorCode::kInvalidArgument || at == std::string::npos) return std::nullopt;
  return error.message.substr(at + jinja::kRaised.size());
}

Result<std::tm> parse_clock(std::string_view text) {
  std::tm time{};
  const std::string copy(text);
  int end = 0;
  const int n_read = std::sscanf(copy.c_str(), "%4d-%2d-%2d %2d:%2d:%2d%n", &time.tm_year, &time.tm_mon, &time.tm_mday,
                                 &time.tm_hour, &time.tm_min, &time.tm_sec, &end);
  if (n_read != 6 || static_cast<size_t>(end) != copy.size()) {
    return make_error(ErrorCode::kInvalidArgument, "time: expected YYYY-MM-DD HH:MM:SS, found '{}'", text);
  }
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  time.tm_isdst = -1;
  std::tm checked = time;
  if (std::mktime(&checked) == -1 || checked.tm_mday != time.tm_mday || checked.tm_mon != time.tm_mon) {
    return make_error(ErrorCode::kInvalidArgument, "time: '{}' is no date", text);
  }
  return checked;
}

}  // namespace ferrox
