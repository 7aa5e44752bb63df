// What prompt does a chat template make of a conversation? The text as it is, nothing added.
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/input_text.h"
#include "cli/load_options.h"
#include "cli/model_file.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "gguf/in_file.h"
#include "text/jinja/template.h"
#include "text/vocabulary.h"

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model_path;
  std::string template_file;
  std::string messages_file = "-";
  std::string now;
};

struct TemplateSource {
  std::string jinja;
  Json trusted = Json::object();  ///< bos_token and eos_token, where the template comes with a vocabulary
};

Result<TemplateSource> template_of_model(const std::string& path) {
  TRY_ASSIGN(const auto file, open_model_file(path));
  TemplateSource source;
  TRY_ASSIGN(source.jinja, in_file(file, file.metadata().get_string("tokenizer.chat_template")));
  TRY_ASSIGN(const auto vocabulary, in_file(file, Vocabulary::load(file.metadata())));
  if (const auto bos = vocabulary.bos()) source.trusted["bos_token"] = vocabulary.text(*bos);
  if (const auto eos = vocabulary.eos()) source.trusted["eos_token"] = vocabulary.text(*eos);
  return source;
}

Result<TemplateSource> template_source(const Arguments& arguments) {
  if (arguments.template_file.empty()) return template_of_model(arguments.model_path);
  TemplateSource source;
  TRY_ASSIGN(source.jinja, read_text_file(arguments.template_file));
  return source;
}

struct Variables {
  Json json;
};

/// An object of variables, or a bare list of messages.
Result<Variables> read_variables(const std::string& path) {
  TRY_ASSIGN(const auto text, read_text_file(path));
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return make_error(ErrorCode::kInvalidArgument, "{}: expected JSON", path);
  if (json.is_array()) return Variables{{{"messages", std::move(json)}, {"add_generation_prompt", true}}};
  if (json.is_object()) return Variables{std::move(json)};
  return make_error(ErrorCode::kInvalidArgument, "{}: expected an object of variables or a list of messages, found {}",
                    path, json.type_name());
}

Result<std::string> render(const Arguments& arguments) {
  TRY_ASSIGN(auto source, template_source(arguments));
  TRY_ASSIGN(const auto variables, read_variables(arguments.messages_file));
  RenderOptions options;
  options.trusted = std::move(source.trusted);
  for (const auto& [name, value] : variables.json.items()) options.trusted.erase(name);
  if (!arguments.now.empty()) {
    TRY_ASSIGN(options.now, parse_clock(arguments.now));
  }
  TRY_ASSIGN(const auto parsed, JinjaTemplate::parse(source.jinja));
  TRY_ASSIGN(const auto rendered, parsed.render(variables.json, options));
  return rendered.text();
}

ExitCode run(const Arguments& arguments) {
  const auto text = render(arguments);
  if (!text) return report_failure(text.error());
  write_text(stdout, *text);
  return ExitCode::kSuccess;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  add_model_option(app, arguments->model_path);
  app.add_option("-f,--file", arguments->template_file, "a Jinja template; without it the model's")
      ->check(not_empty())
      ->excludes(app.get_option("--model"));
  app.add_option("--messages", arguments->messages_file,
                 "JSON: an object of variables or a list of messages; -: standard input")
      ->capture_default_str()
      ->check(not_empty());
  app.add_option("--now", arguments->now, "the clock that strftime_now reads: \"2025-03-14 09:26:53\"")
      ->check(not_empty());
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_template;
const Command command_template = {"template", "renders a chat template", add};

}  // namespace ferrox
