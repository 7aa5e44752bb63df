#include "cli/perplexity_report.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

struct Quantile {
  const char* name;
  double fraction;
};
constexpr Quantile kQuantiles[] = {{"maximum", 1.0}, {"p99.9", 0.999}, {"p99", 0.99}, {"p95", 0.95},
                                   {"p90", 0.90},    {"median", 0.5},  {"p10", 0.10}, {"minimum", 0.0}};

std::string estimate_text(const Estimate& estimate, double unit = 1) {
  return fmt::format("{:.6g} +/- {:.2g}", estimate.value / unit, estimate.error / unit);
}

Json estimate_json(const Estimate& estimate) { return {{"value", estimate.value}, {"standard_error", estimate.error}}; }

Estimate perplexity_ratio(const DivergenceStats& stats) { return perplexity_of(stats.log_ratio()); }

std::string divergence_text(const DivergenceStats& stats) {
  std::string out = fmt::format("reference's perplexity: {}\nratio: {}\nKL divergence: mean {}\n",
                                estimate_text(perplexity_of(stats.reference_nll())),
                                estimate_text(perplexity_ratio(stats)), estimate_text(stats.mean_kl()));
  const auto sorted = stats.sorted_kl();
  for (const auto& [name, fraction] : kQuantiles) {
    out += fmt::format("KL divergence: {} {:.6g}\n", name, quantile(sorted, fraction));
  }
  out += fmt::format("same likeliest token: {} %\n", estimate_text(stats.same_top(), 0.01));
  return out + fmt::format("shift of the right token's probability: mean {} %, RMS {:.4g} %\n",
                           estimate_text(stats.mean_shift(), 0.01), stats.rms_shift() * 100);
}

Json divergence_json(const DivergenceStats& stats) {
  Json kl = {{"mean", estimate_json(stats.mean_kl())}};
  const auto sorted = stats.sorted_kl();
  for (const auto& [name, fraction] : kQuantiles) kl[name] = quantile(sorted, fraction);
  return {{"reference_perplexity", estimate_json(perplexity_of(stats.reference_nll()))},
          {"perplexity_ratio", estimate_json(perplexity_ratio(stats))},
          {"kl_divergence", std::move(kl)},
          {"same_top_share", estimate_json(stats.same_top())},
          {"mean_probability_shift", estimate_json(stats.mean_shift())},
          {"rms_probability_shift", stats.rms_shift()}};
}

}  // namespace

std::string report_text(const PerplexityReport& report) {
  std::string out = fmt::format("scored: {} tokens in {} chunks of {}\nperplexity: {}\n", report.n_tokens,
                                report.n_chunks, report.context, estimate_text(perplexity_of(report.nll)));
  return report.divergence ? out + divergence_text(*report.divergence) : out;
}

std::string report_json(const PerplexityReport& report) {
  Json json = {{"n_tokens", report.n_tokens},
               {"n_chunks", report.n_chunks},
               {"context", report.context},
               {"perplexity", estimate_json(perplexity_of(report.nll))}};
  if (report.divergence) json.update(divergence_json(*report.divergence));
  return json.dump(2) + "\n";
}

}  // namespace ferrox
