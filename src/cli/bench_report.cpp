#include "cli/bench_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "base/version.h"

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

Json row_json(const BenchContext& context, const BenchRow& row) {
  const std::vector<double> ns(row.samples_ns.begin(), row.samples_ns.end());
  const std::vector<double> ts = samples_ts(row);
  return {{"build_commit", kVersion},
          {"build_number", 0},
          {"cpu_info", context.cpu_info},
          {"gpu_info", ""},
          {"backends", "ferrox " + context.isa},
          {"model_filename", context.model_filename},
          {"model_type", context.model_type},
          {"model_size", context.model_size},
          {"model_n_params", context.model_n_params},
          {"n_batch", context.n_batch},
          {"n_ubatch", context.n_batch},
          {"n_threads", row.test.n_threads},
          {"type_k", context.type_k},
          {"type_v", context.type_v},
          {"n_prompt", row.test.n_prompt},
          {"n_gen", row.test.n_gen},
          {"n_depth", row.test.n_depth},
          {"test_time", row.test_time},
          {"avg_ns", static_cast<int64_t>(mean(ns))},
          {"stddev_ns", static_cast<int64_t>(sample_deviation(ns))},
          {"avg_ts", mean(ts)},
          {"stddev_ts", sample_deviation(ts)},
          {"median_ts", median(ts)},
          {"samples_ns", row.samples_ns},
          {"samples_ts", ts}};
}

std::string markdown(const BenchContext& context, const std::vector<BenchRow>& rows) {
  const size_t width = std::max<size_t>(context.model_type.size(), 24);
  std::string out = fmt::format("| {:<{}} | {:>10} | {:>10} | {:<16} | {:>7} | {:>16} | {:>20} | {:>10} |\n", "model",
                                width, "size", "params", "backend", "threads", "test", "t/s", "median");
  out += fmt::format("| {:-<{}} | {:->9}: | {:->9}: | {:-<16} | {:->6}: | {:->15}: | {:->19}: | {:->9}: |\n", "", width,
                     "", "", "", "", "", "", "");
  for (const auto& row : rows) {
    const auto ts = samples_ts(row);
    out += fmt::format("| {:<{}} | {:>10} | {:>8.2f} M | {:<16} | {:>7} | {:>16} | {:>20} | {:>10.2f} |\n",
                       context.model_type, width, format_bytes(context.model_size),
                       static_cast<double>(context.model_n_params) / 1e6, "ferrox " + context.isa, row.test.n_threads,
                       bench_test_name(row.test), fmt::format("{:.2f} ± {:.2f}", mean(ts), sample_deviation(ts)),
                       median(ts));
  }
  return out;
}

// Every field of the JSON row that holds one value.
std::string csv(const BenchContext& context, const std::vector<BenchRow>& rows) {
  std::string out;
  for (const auto& row : rows) {
    std::vector<std::string> names, values;
    const Json json = row_json(context, row);
    for (const auto& [name, value] : json.items()) {
      if (value.is_array()) continue;
      names.push_back(name);
      values.push_back(value.is_string() ? Json(value.get<std::string>()).dump() : fmt::format("\"{}\"", value.dump()));
    }
    if (out.empty()) out += fmt::format("{}\n", fmt::join(names, ","));
    out += fmt::format("{}\n", fmt::join(values, ","));
  }
  return out;
}

}  // namespace

std::vector<double> samples_ts(const BenchRow& row) {
  const auto n_tokens = static_cast<double>(row.test.n_prompt + row.test.n_gen);
  std::vector<double> samples;
  for (const int64_t ns : row.samples_ns)
    samples.push_back(n_tokens * 1e9 / static_cast<double>(std::max<int64_t>(ns, 1)));
  return samples;
}

double mean(const std::vector<double>& samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double sample_deviation(const std::vector<double>& samples) {
  if (samples.size() < 2) return 0;
  const double centre = mean(samples);
  double sum = 0;
  for (const double sample : samples) sum += (sample - centre) * (sample - centre);
  return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

Result<BenchFormat> bench_format(const std::string& name) {
  if (name == "md") return BenchFormat::kMarkdown;
  if (name == "json") return BenchFormat::kJson;
  if (name == "jsonl") return BenchFormat::kJsonLines;
  if (name == "csv") return BenchFormat::kCsv;
  return make_error(ErrorCode::kInvalidArgument, "--output: expected md, json, jsonl or csv, found '{}'", name);
}

std::string format_bench(const BenchContext& context, const std::vector<BenchRow>& rows, BenchFormat format) {
  if (format == BenchFormat::kMarkdown) return markdown(context, rows);
  if (format == BenchFormat::kCsv) return csv(context, rows);
  std::string lines;
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back(row_json(context, row));
    lines += list.back().dump() + "\n";
  }
  return format == BenchFormat::kJson ? list.dump(2) + "\n" : lines;
}

}  // namespace ferrox
