#include "loadgen/figures.h"

#include <algorithm>

namespace ferrox {
namespace {

double a_second(double n, double seconds) { return seconds > 0 ? n / seconds : 0; }

/// A request without text has its end for a first token: that is the latest it could have come.
bool is_good(const RequestRecord& record, const ServiceLevel& level) {
  if (record.outcome != Outcome::kOk) return false;
  if (level.ttft_ms && ttft_ms(record).value_or(e2e_ms(record)) > *level.ttft_ms) return false;
  return !level.itl_ms || mean_itl_ms(record).value_or(0) <= *level.itl_ms;
}

void count_outcomes(const std::vector<RequestRecord>& records, Figures& figures) {
  for (const auto& record : records) {
    ++figures.n_outcomes[static_cast<size_t>(record.outcome)];
    if (record.outcome == Outcome::kRefused) ++figures.n_statuses[record.status];
    if (record.outcome == Outcome::kRefused || record.outcome == Outcome::kFailed) ++figures.n_errors[record.error];
    figures.wall_s = std::max(figures.wall_s, record.end_ms / 1000);
  }
}

void count_tokens(const std::vector<RequestRecord>& records, Figures& figures) {
  int64_t told_input = 0;
  for (const auto& record : records) {
    figures.input_tokens += record.prompt_tokens.value_or(0);
    figures.output_tokens += record.output_tokens();
    figures.counts_events |= record.outcome == Outcome::kOk && !record.completion_tokens;
    if (!record.cached_tokens) continue;
    figures.cached_tokens = figures.cached_tokens.value_or(0) + *record.cached_tokens;
    told_input += record.prompt_tokens.value_or(0);
  }
  if (told_input > 0) {
    figures.cached_share = static_cast<double>(figures.cached_tokens.value_or(0)) / static_cast<double>(told_input);
  }
}

void measure_times(const std::vector<RequestRecord>& records, Figures& figures) {
  std::vector<double> ends, delays;
  for (const auto& record : records) {
    if (record.outcome == Outcome::kOk) ends.push_back(e2e_ms(record));
    if (record.outcome != Outcome::kSkipped) delays.push_back(record.sent_ms - record.due_ms);
  }
  figures.ttft_ms = spread_of(all_ttft_ms(records));
  figures.itl_ms = spread_of(all_gaps_ms(records));
  figures.e2e_ms = spread_of(std::move(ends));
  figures.late_ms = spread_of(std::move(delays));
}

Goodput goodput_of(const std::vector<RequestRecord>& records, const ServiceLevel& level, const Figures& figures) {
  Goodput goodput;
  const auto good = [&](const RequestRecord& record) { return is_good(record, level); };
  goodput.n_good = static_cast<size_t>(std::count_if(records.begin(), records.end(), good));
  const size_t n_judged = records.size() - figures.n_of(Outcome::kCancelled) - figures.n_of(Outcome::kSkipped);
  const auto n_good = static_cast<double>(goodput.n_good);
  goodput.share = n_judged == 0 ? 0 : n_good / static_cast<double>(n_judged);
  goodput.rate_per_s = a_second(n_good, figures.wall_s);
  return goodput;
}

}  // namespace

std::optional<double> ttft_ms(const RequestRecord& record) {
  if (record.token_ms.empty()) return std::nullopt;
  return record.token_ms.front() - record.due_ms;
}

double e2e_ms(const RequestRecord& record) { return record.end_ms - record.due_ms; }

std::optional<double> mean_itl_ms(const RequestRecord& record) {
  const int64_t n_tokens = std::max(record.output_tokens(), static_cast<int64_t>(record.token_ms.size()));
  if (record.token_ms.empty() || n_tokens < 2) return std::nullopt;
  return (record.token_ms.back() - record.token_ms.front()) / static_cast<double>(n_tokens - 1);
}

std::vector<double> gaps_ms(const RequestRecord& record) {
  std::vector<double> gaps;
  for (size_t i = 1; i < record.token_ms.size(); ++i) gaps.push_back(record.token_ms[i] - record.token_ms[i - 1]);
  return gaps;
}

std::vector<double> all_ttft_ms(const std::vector<RequestRecord>& records) {
  std::vector<double> samples;
  for (const auto& record : records) {
    if (record.outcome != Outcome::kOk) continue;
    if (const auto ttft = ttft_ms(record)) samples.push_back(*ttft);
  }
  return samples;
}

std::vector<double> all_gaps_ms(const std::vector<RequestRecord>& records) {
  std::vector<double> samples;
  for (const auto& record : records) {
    if (record.outcome != Outcome::kOk) continue;
    const auto gaps = gaps_ms(record);
    samples.insert(samples.end(), gaps.begin(), gaps.end());
  }
  return samples;
}

Figures figures_of(const std::vector<RequestRecord>& records, const ServiceLevel& level) {
  Figures figures;
  count_outcomes(records, figures);
  count_tokens(records, figures);
  measure_times(records, figures);
  figures.requests_per_s = a_second(static_cast<double>(figures.n_of(Outcome::kOk)), figures.wall_s);
  figures.input_per_s = a_second(static_cast<double>(figures.input_tokens), figures.wall_s);
  figures.output_per_s = a_second(static_cast<double>(figures.output_tokens), figures.wall_s);
  if (level.is_given()) figures.goodput = goodput_of(records, level, figures);
  return figures;
}

}  // namespace ferrox
