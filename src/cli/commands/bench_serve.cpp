// How does a server hold up under load? Many requests at once to any server of OpenAI's API, and what became of them.
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/load_test_options.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "loadgen/html_report.h"
#include "loadgen/json_report.h"
#include "loadgen/load.h"
#include "loadgen/markdown_report.h"

namespace ferrox {
namespace {

struct Arguments {
  LoadTestArguments test;
  std::string output = "md";
  std::string json_path;
  std::string html_path;
};

/// Opened before the run, so that no run is lost to a path that can't be written.
Result<void> open_report(const std::string& path, std::ofstream& file) {
  if (path.empty()) return {};
  file.open(path, std::ios::binary | std::ios::trunc);
  if (file) return {};
  return make_error(ErrorCode::kIo, "{}: expected a file that can be written, found none", path);
}

Result<void> write_report(const std::string& path, std::ofstream& file, const std::string& text) {
  file << text;
  file.close();
  if (file) return {};
  return make_error(ErrorCode::kIo, "{}: can't write all of it", path);
}

/// Whether the run may go on: not if Ctrl-C ended the warm-up.
Result<bool> warm_up(const LoadTest& test, const LoadTestArguments& arguments) {
  if (arguments.n_warmup == 0) return true;
  const LoadTest warmup = warmup_of(test, arguments);
  TRY_ASSIGN(const auto result, run_load(warmup.load, Scenario(warmup.scenario)));
  return !result.was_interrupted;
}

Result<void> save(const Arguments& arguments, const LoadReport& report, std::ofstream& json, std::ofstream& html) {
  if (json.is_open()) TRY(write_report(arguments.json_path, json, json_report(report)));
  if (html.is_open()) TRY(write_report(arguments.html_path, html, html_report(report)));
  return {};
}

ExitCode verdict_of(const LoadReport& report) {
  if (report.was_interrupted) return ExitCode::kInterrupted;
  if (report.figures.n_of(Outcome::kOk) > 0) return ExitCode::kSuccess;
  const auto& errors = report.figures.n_errors;
  return report_failure(make_error(ErrorCode::kUnavailable, "{}: expected an answer to one request at least, found {}",
                                   report.settings["url"].get<std::string>(),
                                   errors.empty() ? "none" : errors.begin()->first));
}

ExitCode run(const CLI::App& app, const Arguments& arguments) {
  const auto test = resolve_load_test(app, arguments.test);
  if (!test) return report_usage(test.error());
  std::ofstream json, html;
  if (const auto opened = open_report(arguments.json_path, json); !opened) return report_failure(opened.error());
  if (const auto opened = open_report(arguments.html_path, html); !opened) return report_failure(opened.error());
  const auto warm = warm_up(*test, arguments.test);
  if (!warm) return report_failure(warm.error());
  if (!*warm) return ExitCode::kInterrupted;
  auto result = run_load(test->load, Scenario(test->scenario));
  if (!result) return report_failure(result.error());
  const LoadReport report = make_report(test->load, test->scenario, arguments.test.level, std::move(*result));
  print_out("{}", arguments.output == "md" ? markdown_report(report) : json_report(report));
  if (const auto saved = save(arguments, report, json, html); !saved) return report_failure(saved.error());
  return verdict_of(report);
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  add_load_test_options(app, arguments->test);
  constexpr const char* kGroup = "Report";
  app.add_option("-o,--output", arguments->output, "md or json, on standard output")
      ->capture_default_str()
      ->check(CLI::IsMember({"md", "json"}))
      ->group(kGroup);
  app.add_option("--json", arguments->json_path, "also write JSON to this file")->check(not_empty())->group(kGroup);
  app.add_option("--html", arguments->html_path, "also write a page with plots to this file")
      ->check(not_empty())
      ->group(kGroup);
  return [arguments, &app] { return run(app, *arguments); };
}

}  // namespace

extern const Command command_bench_serve;
const Command command_bench_serve = {"bench-serve", "loads a server and measures what its clients feel", add};

}  // namespace ferrox
