// How do tests render small templates?
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "text/jinja/template.h"

namespace ferrox::testing {

using Json = nlohmann::ordered_json;

/// The clock of every test.
inline RenderOptions fixed_clock() {
  RenderOptions options;
  options.now = *parse_clock("2025-03-14 09:26:53");
  return options;
}

/// The render, or the error's message behind "error: ".
inline std::string render(std::string_view source, const Json& variables = Json::object(),
                          const RenderOptions& options = fixed_clock()) {
  const auto parsed = JinjaTemplate::parse(source);
  if (!parsed) return "error: " + parsed.error().message;
  const auto rendered = parsed->render(variables, options);
  return rendered ? rendered->text() : "error: " + rendered.error().message;
}

/// The render of one expression.
inline std::string value_of(std::string_view expression, const Json& variables = Json::object()) {
  return render("{{ " + std::string(expression) + " }}", variables);
}

/// The render with the caller's parts in brackets.
inline std::string marked(std::string_view source, const Json& variables) {
  const auto parsed = JinjaTemplate::parse(source);
  if (!parsed) return "error: " + parsed.error().message;
  const auto rendered = parsed->render(variables, fixed_clock());
  if (!rendered) return "error: " + rendered.error().message;
  std::string text;
  for (const auto& segment : rendered->segments())
    text += segment.is_template ? segment.text : "[" + segment.text + "]";
  return text;
}

}  // namespace ferrox::testing
