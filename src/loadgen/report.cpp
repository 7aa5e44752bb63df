#include "loadgen/report.h"

#include <fmt/format.h>

#include <cmath>

namespace ferrox {
namespace {

ReportJson range_json(const SizeRange& range) {
  if (range.lowest == range.highest) return range.lowest;
  return fmt::format("{}:{}", range.lowest, range.highest);
}

void add_arrival(const LoadOptions& options, const ScenarioOptions& scenario, ReportJson& settings) {
  if (!options.arrivals) {
    settings["concurrency"] = options.concurrency;
    return;
  }
  const bool has_turns = scenario.kind == ScenarioKind::kMultiTurn;
  settings["arrival"] = options.arrivals->kind == ArrivalKind::kPoisson ? "poisson" : "constant";
  settings[has_turns ? "conversations_per_s" : "rate_per_s"] = options.arrivals->rate;
}

void add_scenario(const ScenarioOptions& scenario, ReportJson& settings) {
  settings["scenario"] = scenario_name(scenario.kind);
  settings["requests"] = scenario.n_requests;
  settings["prompt_words"] = range_json(scenario.prompt_words);
  settings["output_tokens"] = scenario.output_tokens;
  switch (scenario.kind) {
    case ScenarioKind::kDistinct:
      break;
    case ScenarioKind::kSharedPrefix:
      settings["prefix_words"] = scenario.prefix_words;
      break;
    case ScenarioKind::kMultiTurn:
      settings["turns"] = scenario.n_turns;
      break;
    case ScenarioKind::kMixed:
      settings["long_words"] = range_json(scenario.long_words);
      settings["long_share"] = scenario.long_share;
      break;
    case ScenarioKind::kCancelHeavy:
      settings["cancel_share"] = scenario.cancel_share;
      break;
  }
  settings["seed"] = scenario.seed;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string tokens_text(int64_t n_tokens, double a_second) { return fmt::format("{} ({:.1f}/s)", n_tokens, a_second); }

std::string level_text(const ServiceLevel& level) {
  std::string text;
  if (level.ttft_ms) text += fmt::format("first token in {:g} ms", *level.ttft_ms);
  if (level.itl_ms) text += fmt::format("{}{:g} ms a token", text.empty() ? "" : ", ", *level.itl_ms);
  return text;
}

}  // namespace

LoadReport make_report(const LoadOptions& options, const ScenarioOptions& scenario, const ServiceLevel& level,
                       LoadResult result) {
  LoadReport report;
  ReportJson& settings = report.settings;
  settings["url"] = (options.url.is_tls ? "https://" : "http://") + options.url.authority() + options.url.path;
  settings["endpoint"] = options.body.endpoint == EndpointKind::kChat ? "chat" : "completions";
  if (!options.body.model.empty()) settings["model"] = options.body.model;
  add_scenario(scenario, settings);
  add_arrival(options, scenario, settings);
  settings["ignore_eos"] = options.body.ignore_eos;
  settings["keep_alive"] = options.connections == ConnectionUse::kKept;
  settings["timeout_s"] = std::chrono::duration<double>(options.timeout).count();
  if (level.ttft_ms) settings["slo_ttft_ms"] = *level.ttft_ms;
  if (level.itl_ms) settings["slo_itl_ms"] = *level.itl_ms;
  report.level = level;
  report.figures = figures_of(result.records, level);
  report.records = std::move(result.records);
  report.was_interrupted = result.was_interrupted;
  return report;
}

std::string report_title(const LoadReport& report) {
  const ReportJson& settings = report.settings;
  std::string how = settings.contains("concurrency") ? fmt::format("{} at once", settings["concurrency"].get<size_t>())
                    : settings.contains("rate_per_s")
                        ? fmt::format("{:g} a second, {}", settings["rate_per_s"].get<double>(),
                                      settings["arrival"].get<std::string>())
                        : fmt::format("{:g} conversations a second, {}", settings["conversations_per_s"].get<double>(),
                                      settings["arrival"].get<std::string>());
  return fmt::format("{}: {} requests to {}, {}{}", settings["scenario"].get<std::string>(),
                     settings["requests"].get<size_t>(), settings["url"].get<std::string>(), how,
                     report.was_interrupted ? " (interrupted)" : "");
}

std::vector<std::pair<std::string, std::string>> summary_rows(const LoadReport& report) {
  const Figures& figures = report.figures;
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Outcome outcome :
       {Outcome::kOk, Outcome::kRefused, Outcome::kFailed, Outcome::kCancelled, Outcome::kSkipped}) {
    const size_t n = figures.n_of(outcome);
    if (n > 0 || outcome == Outcome::kOk) rows.emplace_back(outcome_name(outcome), std::to_string(n));
  }
  rows.emplace_back("wall time", fmt::format("{:.3f} s", figures.wall_s));
  rows.emplace_back("requests a second", fmt::format("{:.2f}", figures.requests_per_s));
  rows.emplace_back("input tokens", tokens_text(figures.input_tokens, figures.input_per_s));
  rows.emplace_back(figures.counts_events ? "output tokens (events: no usage told)" : "output tokens",
                    tokens_text(figures.output_tokens, figures.output_per_s));
  if (figures.cached_tokens) {
    rows.emplace_back("cached input tokens",
                      fmt::format("{} ({})", *figures.cached_tokens, percent(figures.cached_share)));
  }
  if (figures.goodput) {
    rows.emplace_back(fmt::format("goodput ({})", level_text(report.level)),
                      fmt::format("{} requests ({}), {:.2f}/s", figures.goodput->n_good,
                                  percent(figures.goodput->share), figures.goodput->rate_per_s));
  }
  return rows;
}

std::vector<SpreadRow> spread_rows(const Figures& figures) {
  return {{"first token", "ttft_ms", &figures.ttft_ms},
          {"between tokens", "itl_ms", &figures.itl_ms},
          {"end to end", "e2e_ms", &figures.e2e_ms},
          {"sent late", "late_ms", &figures.late_ms}};
}

std::vector<std::string> SpreadRow::cells() const {
  std::vector<std::string> cells;
  for (const double ms : {spread->mean, spread->p50, spread->p90, spread->p95, spread->p99, spread->max}) {
    cells.push_back(spread->n == 0 ? "-" : format_ms(ms));
  }
  cells.push_back(std::to_string(spread->n));
  return cells;
}

std::string format_ms(double ms) {
  if (!(ms > 0)) return "0";
  const int n_before = static_cast<int>(std::floor(std::log10(ms))) + 1;
  return fmt::format("{:.{}f}", ms, std::clamp(3 - n_before, 0, 4));
}

}  // namespace ferrox
