#include "cli/bench_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "base/version.h"
#include "cli/bench_profile.h"

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

void add_limits(const BenchContext& context, const BenchRow& row, Json& json) {
  json["read_bytes_per_second"] = row.limits.read_bytes;
  json["int8_operations_per_second"] = row.limits.int8_operations;
  json["f32_operations_per_second"] = row.limits.f32_operations;
  if (const auto share = limit_share(context.work, row)) {
    json["limit"] = share->limit;
    json["share_of_limit"] = share->share;
  }
  if (context.peer.empty()) return;
  json["peer"] = context.peer;
  json["peer_median_ts"] = median(row.peer_ts);
  json["ratio"] = median(samples_ts(row)) / median(row.peer_ts);
}

Json row_json(const BenchContext& context, const BenchRow& row) {
  const std::vector<double> ns(row.samples_ns.begin(), row.samples_ns.end());
  const std::vector<double> ts = samples_ts(row);
  Json json{{"build_commit", kVersion},
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
            {"n_parallel", row.test.n_sequences},
            {"test_time", row.test_time},
            {"avg_ns", static_cast<int64_t>(mean(ns))},
            {"stddev_ns", static_cast<int64_t>(sample_deviation(ns))},
            {"avg_ts", mean(ts)},
            {"stddev_ts", sample_deviation(ts)},
            {"median_ts", median(ts)},
            {"samples_ns", row.samples_ns},
            {"samples_ts", ts}};
  add_limits(context, row, json);
  if (row.profile) json["profile"] = profile_json(*row.profile);
  return json;
}

/// "71 % of int8"; "-" where nothing bounds it alone.
std::string share_text(const BenchContext& context, const BenchRow& row) {
  const auto share = limit_share(context.work, row);
  return share ? fmt::format("{:.0f} % of {}", 100 * share->share, share->limit) : "-";
}

std::string limits_text(const std::vector<BenchRow>& rows) {
  std::vector<MachineLimits> samples;
  for (const auto& row : rows) samples.push_back(row.limits);
  const MachineLimits limits = median_limits(samples);
  return fmt::format("\nThis machine, measured in between: read {:.1f} GB/s, int8 {:.0f} GOPS, f32 {:.0f} GFLOPS.\n",
                     limits.read_bytes * 1e-9, limits.int8_operations * 1e-9, limits.f32_operations * 1e-9);
}

/// What the figures of a profile are divided by: a prompt of each sequence, or a step of generation.
ProfileUnit profile_unit(const BenchRow& row) {
  const auto n_repetitions = static_cast<int64_t>(row.samples_ns.size());
  const bool is_generation = row.test.n_prompt == 0;
  return {fmt::format("{}, {}", bench_test_name(row.test), is_generation ? "a step" : "a run"),
          is_generation ? n_repetitions * row.test.n_gen : n_repetitions};
}

std::string markdown(const BenchContext& context, const std::vector<BenchRow>& rows) {
  const size_t width = std::max<size_t>(context.model_type.size(), 24);
  const bool has_peer = !context.peer.empty();
  std::string out =
      fmt::format("| {:<{}} | {:>10} | {:>10} | {:<16} | {:>7} | {:>16} | {:>20} | {:>10} | {:>12} |", "model", width,
                  "size", "params", "backend", "threads", "test", "t/s", "median", "share");
  if (has_peer) out += fmt::format(" {:>10} | {:>6} |", "peer", "ratio");
  out += fmt::format("\n| {:-<{}} | {:->9}: | {:->9}: | {:-<16} | {:->6}: | {:->15}: | {:->19}: | {:->9}: | {:->11}: |",
                     "", width, "", "", "", "", "", "", "", "");
  if (has_peer) out += fmt::format(" {:->9}: | {:->5}: |", "", "");
  out += '\n';
  for (const auto& row : rows) {
    const auto ts = samples_ts(row);
    out += fmt::format("| {:<{}} | {:>10} | {:>8.2f} M | {:<16} | {:>7} | {:>16} | {:>20} | {:>10.2f} | {:>12} |",
                       context.model_type, width, format_bytes(context.model_size),
                       static_cast<double>(context.model_n_params) / 1e6, "ferrox " + context.isa, row.test.n_threads,
                       bench_test_name(row.test), fmt::format("{:.2f} ± {:.2f}", mean(ts), sample_deviation(ts)),
                       median(ts), share_text(context, row));
    if (has_peer) out += fmt::format(" {:>10.2f} | {:>6.2f} |", median(row.peer_ts), median(ts) / median(row.peer_ts));
    out += '\n';
  }
  out += limits_text(rows);
  for (const auto& row : rows) {
    if (row.profile) out += profile_text(*row.profile, profile_unit(row), row.limits);
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
      if (value.is_structured()) continue;
      names.push_back(name);
      values.push_back(value.is_string() ? Json(value.get<std::string>()).dump() : fmt::format("\"{}\"", value.dump()));
    }
    if (out.empty()) out += fmt::format("{}\n", fmt::join(names, ","));
    out += fmt::format("{}\n", fmt::join(values, ","));
  }
  return out;
}

}  // namespace

std::optional<LimitShare> limit_share(const ModelWork& work, const BenchRow& row) {
  const auto n_prompt = static_cast<double>(row.test.n_prompt);
  const auto n_gen = static_cast<double>(row.test.n_gen);
  if (n_prompt > 0 && n_gen > 0) return std::nullopt;
  const double tokens_a_second = median(samples_ts(row));
  const double logits_a_token = n_prompt > 0 ? 1 / n_prompt : 1;
  const double operations = 2 * (work.layer_weights + work.logit_weights * logits_a_token) * tokens_a_second;
  const LimitShare arithmetic = work.is_float ? LimitShare{"f32", operations / row.limits.f32_operations}
                                              : LimitShare{"int8", operations / row.limits.int8_operations};
  if (n_gen == 0) return arithmetic;
  const auto n_rows = static_cast<double>(row.test.n_sequences);
  const double positions = static_cast<double>(row.test.n_depth) + n_gen / 2;
  const double step_bytes = step_weight_bytes(work, n_rows) + n_rows * work.kv_bytes_per_token * positions;
  const LimitShare reading{"read", step_bytes * tokens_a_second / n_rows / row.limits.read_bytes};
  return reading.share >= arithmetic.share ? reading : arithmetic;
}

std::vector<double> samples_ts(const BenchRow& row) {
  const auto n_tokens = static_cast<double>((row.test.n_prompt + row.test.n_gen) * row.test.n_sequences);
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
