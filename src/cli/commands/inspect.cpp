// What is in this model file? Metadata, tensors by type, parameters, KV bytes a token.
#include <memory>

#include <fmt/format.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/load_options.h"
#include "cli/metadata_view.h"
#include "cli/model_file.h"
#include "cli/model_summary.h"
#include "cli/nearest_name.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "cli/tensor_export.h"
#include "engine/memory_question.h"
#include "gguf/in_file.h"

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string path;
  bool json = false;
  bool full = false;
  bool list_tensors = false;
  std::string tensor;
  std::string out;
  bool fit = false;
  LoadArguments load;
};

// Longer arrays are vocabularies and merges: shown only when asked for.
constexpr size_t kJsonElements = 256;

constexpr OptionRow<EngineOptions> kParallelRow[] = {
    {"--parallel", &EngineOptions::n_parallel, 1, 4096, "most requests that run at once"}};

void print_summary(const GgufFile& file, const ModelSummary& summary) {
  print_out("file         {}\n", printable(file.name(), 1000));
  print_out("gguf         version {}\n", file.version());
  print_out("architecture {}\n", summary.architecture.empty() ? "not stated" : printable(summary.architecture, 100));
  print_out("parameters   {}\n", summary.n_parameters);
  print_out("weights      {}\n", format_bytes(file.tensor_bytes()));
  if (summary.kv_bytes_per_token) {
    print_out("kv cache     {} bytes a token (f16)\n", *summary.kv_bytes_per_token);
  }
}

void print_types(const ModelSummary& summary) {
  if (summary.types.empty()) return;
  print_out("\n{:<10} {:>8} {:>16} {:>12}\n", "type", "tensors", "parameters", "size");
  for (const auto& share : summary.types) {
    print_out("{:<10} {:>8} {:>16} {:>12}\n", share.type, share.n_tensors, share.n_elements,
              format_bytes(share.size_bytes));
  }
}

void print_tensors(const GgufFile& file) {
  print_out("\ntensors\n");
  for (const auto& tensor : file.tensors()) {
    print_out("  {:<40} {:<8} {}\n", printable(tensor.name, 200), dtype_name(tensor.dtype),
              fmt::join(tensor.dims, " x "));
  }
}

void print_text(const GgufFile& file, const Arguments& arguments) {
  const ModelSummary summary = summarize(file);
  print_summary(file, summary);
  print_types(summary);
  print_out("\nmetadata\n");
  for (const auto& [key, value] : file.metadata().entries()) {
    print_out("  {:<40} {}\n", printable(key, 200), metadata_line(value));
  }
  if (arguments.list_tensors) print_tensors(file);
}

Json types_json(const ModelSummary& summary) {
  Json types = Json::object();
  for (const auto& share : summary.types) {
    types[share.type] = {
        {"tensors", share.n_tensors}, {"parameters", share.n_elements}, {"size_bytes", share.size_bytes}};
  }
  return types;
}

Json file_json(const GgufFile& file, const Arguments& arguments) {
  const ModelSummary summary = summarize(file);
  const size_t most_elements = arguments.full ? SIZE_MAX : kJsonElements;
  Json metadata = Json::object();
  for (const auto& [key, value] : file.metadata().entries()) metadata[key] = metadata_json(value, most_elements);
  Json tensors = Json::array();
  for (const auto& tensor : file.tensors()) {
    tensors.push_back({{"name", tensor.name},
                       {"type", dtype_name(tensor.dtype)},
                       {"dims", tensor.dims},
                       {"size_bytes", tensor.size_bytes}});
  }
  Json json = {{"file", file.name()},
               {"gguf_version", file.version()},
               {"architecture", summary.architecture},
               {"parameters", summary.n_parameters},
               {"tensor_bytes", file.tensor_bytes()},
               {"types", types_json(summary)},
               {"metadata", std::move(metadata)},
               {"tensors", std::move(tensors)}};
  if (summary.kv_bytes_per_token) json["kv_bytes_per_token"] = *summary.kv_bytes_per_token;
  return json;
}

ExitCode write_tensor(const GgufFile& file, const Arguments& arguments) {
  const GgufTensor* tensor = file.find_tensor(arguments.tensor);
  if (tensor == nullptr) {
    std::vector<std::string> names;
    for (const auto& each : file.tensors()) names.push_back(each.name);
    const auto nearest = nearest_name(arguments.tensor, names);
    return report_failure(make_error(ErrorCode::kNotFound, "{}: no tensor '{}'{}", file.name(), arguments.tensor,
                                     nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""));
  }
  const auto written = export_tensor(*tensor, arguments.out);
  if (!written) return report_failure(written.error());
  print_err("{}: {} float32 numbers\n", arguments.out, tensor->n_elements);
  return ExitCode::kSuccess;
}

/// The arithmetic of a load with the same options; a model that doesn't fit is a failure.
ExitCode print_fit(const GgufFile& file, const Arguments& arguments) {
  const auto options = resolve_load(arguments.load);
  if (!options) return report_option(options.error());
  const auto report = in_file(file, report_fit(file, *options));
  if (!report) return report_failure(report.error());
  for (const std::string& line : report->lines) print_out("{}\n", line);
  if (report->refusal) return report_failure(*report->refusal);
  print_out("the model fits\n");
  for (const std::string& doubt : report->doubts) print_err("ferrox: warning: {}\n", doubt);
  return ExitCode::kSuccess;
}

ExitCode run(const Arguments& arguments) {
  const auto file = open_model_file(arguments.path);
  if (!file) return report_failure(file.error());
  if (arguments.fit && (arguments.json || !arguments.tensor.empty())) {
    return report_usage(
        make_error(ErrorCode::kInvalidArgument, "--fit: expected neither --json nor --tensor beside it"));
  }
  if (arguments.fit) return print_fit(*file, arguments);
  if (!arguments.tensor.empty() && arguments.list_tensors) {
    return report_usage(make_error(ErrorCode::kInvalidArgument, "expected --tensor or --tensors, found both"));
  }
  if (!arguments.tensor.empty()) return write_tensor(*file, arguments);
  if (arguments.json) {
    print_out("{}\n", file_json(*file, arguments).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_text(*file, arguments);
  }
  return ExitCode::kSuccess;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  app.add_option("file,-m,--model", arguments->path, "a GGUF file; without it the bundled model")->check(not_empty());
  auto* json = app.add_flag("--json", arguments->json, "print JSON");
  app.add_flag("--full", arguments->full, "with --json: long arrays in full")->needs(json);
  app.add_flag("--tensors", arguments->list_tensors, "list every tensor");
  auto* tensor = app.add_option("--tensor", arguments->tensor, "write this tensor as float32")->check(not_empty());
  auto* out = app.add_option("-o,--out", arguments->out, "where --tensor writes")->check(not_empty());
  auto* fit = app.add_flag("--fit", arguments->fit, "say whether it fits this machine, with the arithmetic");
  add_memory_options(app, arguments->load);
  add_options<EngineOptions>(app, "Memory", kParallelRow, arguments->load.engine);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group() == "Memory") option->needs(fit);
  }
  tensor->needs(out)->excludes(json);
  out->needs(tensor);
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_inspect;
const Command command_inspect = {"inspect", "shows what a model file holds", add};

}  // namespace ferrox
