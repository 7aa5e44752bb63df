#include "loadgen/json_report.h"

#include <algorithm>

namespace ferrox {
namespace {

ReportJson spread_json(const Spread& spread) {
  return {{"n", spread.n},     {"mean", spread.mean}, {"p50", spread.p50}, {"p90", spread.p90},
          {"p95", spread.p95}, {"p99", spread.p99},   {"max", spread.max}};
}

template <class T>
void add_if_told(ReportJson& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

ReportJson record_json(const RequestRecord& record) {
  ReportJson json{
      {"conversation", record.conversation}, {"turn", record.turn}, {"outcome", outcome_name(record.outcome)}};
  if (record.outcome == Outcome::kSkipped) return json;
  if (record.status != 0) json["status"] = record.status;
  if (!record.error.empty()) json["error"] = record.error;
  json["due_ms"] = record.due_ms;
  json["sent_ms"] = record.sent_ms;
  json["end_ms"] = record.end_ms;
  add_if_told(json, "ttft_ms", ttft_ms(record));
  add_if_told(json, "mean_itl_ms", mean_itl_ms(record));
  const auto gaps = gaps_ms(record);
  if (!gaps.empty()) json["max_itl_ms"] = *std::max_element(gaps.begin(), gaps.end());
  add_if_told(json, "prompt_tokens", record.prompt_tokens);
  add_if_told(json, "cached_tokens", record.cached_tokens);
  json["output_tokens"] = record.output_tokens();
  return json;
}

ReportJson outcomes_json(const Figures& figures) {
  ReportJson json;
  for (size_t i = 0; i < figures.n_outcomes.size(); ++i) json[kOutcomeNames[i]] = figures.n_outcomes[i];
  return json;
}

void add_details(const Figures& figures, ReportJson& json) {
  if (figures.cached_tokens) {
    json["cached_tokens"] = *figures.cached_tokens;
    json["cached_share"] = figures.cached_share;
  }
  if (figures.goodput) {
    json["goodput"] = {{"requests", figures.goodput->n_good},
                       {"share", figures.goodput->share},
                       {"per_s", figures.goodput->rate_per_s}};
  }
  for (const auto& [status, n] : figures.n_statuses) json["statuses"][std::to_string(status)] = n;
  for (const auto& [error, n] : figures.n_errors) json["errors"][error] = n;
}

}  // namespace

std::string json_report(const LoadReport& report) {
  const Figures& figures = report.figures;
  ReportJson json{{"settings", report.settings},
                  {"interrupted", report.was_interrupted},
                  {"outcomes", outcomes_json(figures)},
                  {"wall_s", figures.wall_s},
                  {"requests_per_s", figures.requests_per_s},
                  {"input_tokens", figures.input_tokens},
                  {"input_tokens_per_s", figures.input_per_s},
                  {"output_tokens", figures.output_tokens},
                  {"output_tokens_per_s", figures.output_per_s},
                  {"output_tokens_are_events", figures.counts_events}};
  for (const SpreadRow& row : spread_rows(figures)) json[row.key] = spread_json(*row.spread);
  add_details(figures, json);
  ReportJson& requests = json["requests"] = ReportJson::array();
  for (const auto& record : report.records) requests.push_back(record_json(record));
  return json.dump(2, ' ', false, ReportJson::error_handler_t::replace) + "\n";
}

}  // namespace ferrox
