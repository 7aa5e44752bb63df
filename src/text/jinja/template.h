// How is a Jinja template parsed and rendered?
#pragma once

#include <nlohmann/json.hpp>

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/budget.h"

namespace ferrox {

/// A piece of a rendered prompt. Control tokens may be recognised within the template's pieces only, never in a
/// caller's text nor across a border.
struct PromptSegment {
  std::string text;
  bool is_template;
};

/// The result of a render: adjacent segments differ in is_template, none is empty.
class Rendered {
 public:
  explicit Rendered(std::vector<PromptSegment> segments) : segments_(std::move(segments)) {}

  const std::vector<PromptSegment>& segments() const { return segments_; }
  std::string text() const;

 private:
  std::vector<PromptSegment> segments_;
};

struct RenderOptions {
  /// Local time of strftime_now(); the system's when absent. See parse_clock().
  std::optional<std::tm> now;
  /// Variables that count as the template's own text (bos_token, eos_token); they win over `variables`.
  nlohmann::ordered_json trusted = nlohmann::ordered_json::object();
  jinja::Limits limits;
};

/// A parsed template; immutable, so that threads may render it at once. Blocks are trimmed and left-stripped, lists and
/// dicts can't be changed by it, and every render ends within RenderOptions::limits.
class JinjaTemplate {
 public:
  /// Errors: kInvalidArgument, with line, column, what was expected and what was found.
  static Result<JinjaTemplate> parse(std::string_view source);

  /// `variables` is an object; its strings are data. Errors: kInvalidArgument with line and column; see
  /// raised_message().
  Result<Rendered> render(const nlohmann::ordered_json& variables, const RenderOptions& options = {}) const;

  /// Does some expression name this variable, attribute or key? Whether a template knows `tools` or `name` at all.
  bool mentions(std::string_view variable) const;

 private:
  struct Parsed;
  explicit JinjaTemplate(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}

  std::shared_ptr<const Parsed> parsed_;
};

/// The message a template gave to raise_exception(), when that is what the error tells.
std::optional<std::string> raised_message(const Error& error);

/// Reads "2025-03-14 09:26:53" as local time.
Result<std::tm> parse_clock(std::string_view text);

}  // namespace ferrox
