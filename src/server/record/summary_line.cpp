#include "server/record/summary_line.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "server/endpoint.h"
#include "server/keys/api_key.h"

namespace ferrox {
namespace {

constexpr int kClientClosed = 499;

double ms_between(AnswerTotals::Time from, AnswerTotals::Time to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

const char* message_of(const HttpOutcome& outcome) {
  if (outcome.status == 0 || outcome.status == kClientClosed) return "client left";
  if (outcome.status >= 400) return "refused";
  return outcome.is_complete ? "answered" : "broken off";
}

/// Each reason once, in the order of the answers' ends.
std::string joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (auto reason = reasons.begin(); reason != reasons.end(); ++reason) {
    if (std::find(reasons.begin(), reason, *reason) != reason) continue;
    if (!text.empty()) text += ',';
    text += *reason;
  }
  return text;
}

void add_totals(const AnswerTotals& totals, AnswerTotals::Time arrival, LogFields& fields) {
  if (totals.n_answers == 0) return;
  if (totals.n_answers > 1) fields.push_back({"answers", static_cast<int64_t>(totals.n_answers)});
  fields.push_back({"prompt_tokens", totals.n_prompt});
  if (totals.n_cached) fields.push_back({"cached_tokens", *totals.n_cached});
  fields.push_back({"completion_tokens", totals.n_generated});
  if (totals.usage) fields.push_back({"queue_ms", totals.usage->queue_ms});
  if (totals.first_token) fields.push_back({"ttft_ms", ms_between(arrival, *totals.first_token)});
  if (!totals.finish_reasons.empty()) fields.push_back({"finish_reason", joined(totals.finish_reasons)});
}

}  // namespace

void log_request(spdlog::level::level_enum level, const std::string& request_id, std::string_view message,
                 LogFields fields) {
  if (!log().should_log(level)) return;
  fields.insert(fields.begin(), {"request_id", request_id});
  log_fields(level, message, fields);
}

void log_summary(const HttpRequest& request, const HttpOutcome& outcome) {
  const ExchangeRecord* const record = request.record.get();
  const Endpoint* const endpoint = record == nullptr ? nullptr : record->endpoint;
  const bool is_detail = endpoint != nullptr && endpoint->is_probe && outcome.status < 400;
  const auto level = is_detail ? spdlog::level::debug : spdlog::level::info;
  if (!log().should_log(level)) return;
  LogFields fields;
  if (!request.method.empty()) fields.push_back({"method", request.method});
  if (!request.path.empty()) fields.push_back({"path", logged_path(request.path)});
  if (endpoint != nullptr) fields.push_back({"endpoint", std::string(endpoint->path)});
  fields.push_back({"status", int64_t{outcome.status}});
  if (!outcome.error_code.empty()) fields.push_back({"error", outcome.error_code});
  if (request.caller != nullptr) fields.push_back({"caller", request.caller->name});
  if (record != nullptr) {
    if (record->trace != nullptr) fields.push_back({"trace_id", record->trace->trace_id()});
    add_totals(record->totals(), request.arrival, fields);
  }
  fields.push_back({"total_ms", ms_between(request.arrival, std::chrono::steady_clock::now())});
  log_request(level, request.id, message_of(outcome), std::move(fields));
}

void log_stream_end(const std::string& request_id, AnswerTotals::Time arrival, const ExchangeRecord& record) {
  LogFields fields;
  if (record.endpoint != nullptr) fields.push_back({"endpoint", std::string(record.endpoint->path)});
  add_totals(record.totals(), arrival, fields);
  log_request(spdlog::level::info, request_id, "stream ended", std::move(fields));
}

}  // namespace ferrox
