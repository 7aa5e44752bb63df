// Which tokens does a text become? Ids of a text, or of each line of JSON on standard input.
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/input_text.h"
#include "cli/load_options.h"
#include "cli/metadata_view.h"
#include "cli/model_file.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "gguf/in_file.h"
#include "text/tokenizer.h"

namespace ferrox {
namespace {

struct Arguments {
  std::string model_path;
  std::string text;
  std::string file;
  bool jsonl = false;
  bool special = false;
  bool add_bos = false;
  bool ids_only = false;
};

constexpr size_t kShownBytes = 200;

std::vector<int32_t> encode(const Tokenizer& tokenizer, const Arguments& arguments, std::string_view text) {
  auto ids = tokenizer.encode(text, arguments.special ? SpecialTokens::kParse : SpecialTokens::kAsText);
  return arguments.add_bos ? tokenizer.add_bos(std::move(ids)) : ids;
}

Result<std::string> text_of_line(const std::string& line, int64_t line_number) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("text") || !json["text"].is_string()) {
    return make_error(ErrorCode::kInvalidArgument, "standard input, line {}: expected {{\"text\": \"...\"}}, found {}",
                      line_number, printable(line, 80));
  }
  return json["text"].get<std::string>();
}

ExitCode tokenize_lines(const Tokenizer& tokenizer, const Arguments& arguments) {
  int64_t line_number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto text = text_of_line(line, line_number);
    if (!text) return report_failure(text.error());
    print_out("{{\"ids\": [{}]}}\n", fmt::join(encode(tokenizer, arguments, *text), ", "));
  }
  if (std::cin.bad()) return report_failure(Error{ErrorCode::kIo, "standard input: can't read"});
  return ExitCode::kSuccess;
}

Result<std::string> text_to_tokenize(const Arguments& arguments) {
  if (!arguments.text.empty()) return arguments.text;
  return read_text_file(arguments.file.empty() ? "-" : arguments.file);
}

ExitCode tokenize_text(const Tokenizer& tokenizer, const Arguments& arguments) {
  const auto text = text_to_tokenize(arguments);
  if (!text) return report_failure(text.error());
  const auto ids = encode(tokenizer, arguments, *text);
  if (arguments.ids_only) {
    print_out("{}\n", fmt::join(ids, " "));
    return ExitCode::kSuccess;
  }
  for (const int32_t id : ids) {
    print_out("{:>8}  {}\n", id, printable(tokenizer.token_bytes(id, SpecialText::kShow), kShownBytes));
  }
  return ExitCode::kSuccess;
}

ExitCode run(const Arguments& arguments) {
  if (!arguments.text.empty() + !arguments.file.empty() + arguments.jsonl > 1) {
    return report_usage(
        make_error(ErrorCode::kInvalidArgument, "expected one of a text, --file and --jsonl, found several"));
  }
  const auto file = open_model_file(arguments.model_path);
  if (!file) return report_failure(file.error());
  const auto tokenizer = in_file(*file, make_tokenizer(file->metadata()));
  if (!tokenizer) return report_failure(tokenizer.error());
  return arguments.jsonl ? tokenize_lines(**tokenizer, arguments) : tokenize_text(**tokenizer, arguments);
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  add_model_option(app, arguments->model_path);
  app.add_option("text", arguments->text, "the text; without it -f or standard input");
  app.add_option("-f,--file", arguments->file, "read the text from a file")->check(not_empty());
  app.add_flag("--jsonl", arguments->jsonl,
               "read {\"text\": ...} lines from standard input, print {\"ids\": [...]} lines");
  app.add_flag("--special", arguments->special, "let the text spell special tokens");
  app.add_flag("--add-bos", arguments->add_bos, "begin with the token that the model wants in front");
  app.add_flag("--ids", arguments->ids_only, "print ids alone, on one line");
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_tokenize;
const Command command_tokenize = {"tokenize", "turns text into token ids", add};

}  // namespace ferrox
