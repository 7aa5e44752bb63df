#include "server/record/request_trace.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "server/endpoint.h"
#include "server/keys/api_key.h"
#include "server/record/exchange_record.h"

namespace ferrox {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using Ms = std::chrono::duration<double, std::milli>;

std::chrono::nanoseconds to_ns(double ms) { return std::chrono::duration_cast<std::chrono::nanoseconds>(Ms(ms)); }

/// Spans of the phases, one after another from the submission on.
class Phases {
 public:
  Phases(const Span& parent, std::chrono::nanoseconds start) : parent_(parent), start_(start) {}

  void add(const char* name, std::chrono::nanoseconds duration, std::vector<SpanAttribute> attributes = {}) {
    Span span;
    span.trace_id = parent_.trace_id;
    span.trace_state = parent_.trace_state;
    span.parent_id = parent_.span_id;
    span.span_id = new_span_id();
    span.name = name;
    span.start = start_;
    span.end = start_ + duration;
    span.attributes = std::move(attributes);
    start_ = span.end;
    spans.push_back(std::move(span));
  }

  std::vector<Span> spans;

 private:
  const Span& parent_;
  std::chrono::nanoseconds start_;  ///< since 1970
};

std::vector<Span> phases_of(const AnswerTotals& totals, const Span& parent, SteadyTime arrival) {
  if (!totals.usage) return {};
  const Usage& usage = *totals.usage;
  Phases phases(parent, parent.start + (*totals.submitted - arrival));
  phases.add("queue", to_ns(usage.queue_ms));
  if (!totals.n_cached) return std::move(phases.spans);  // it was never admitted
  phases.add(
      "prefill", to_ns(usage.prefill_ms),
      {{"ferrox.prompt_tokens", usage.prompt_tokens}, {"ferrox.cached_tokens", usage.cached_tokens.value_or(0)}});
  if (totals.first_token) phases.add("decode", to_ns(usage.decode_ms));
  return std::move(phases.spans);
}

}  // namespace

RequestTrace::RequestTrace(std::shared_ptr<SpanExporter> exporter, const TraceContext& caller)
    : exporter_(std::move(exporter)) {
  span_.trace_id = caller.trace_id.empty() ? new_trace_id() : caller.trace_id;
  span_.parent_id = caller.span_id;
  span_.trace_state = caller.trace_state;
  span_.span_id = new_span_id();
  span_.kind = SpanKind::kServer;
}

void RequestTrace::finish(const HttpRequest& request, const HttpOutcome& outcome, const Endpoint* endpoint,
                          const std::string& model_id) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  arrival_ = request.arrival;
  span_.start = now - (std::chrono::steady_clock::now() - request.arrival);
  span_.end = now;
  span_.name = endpoint == nullptr ? request.method : fmt::format("{} {}", request.method, endpoint->path);
  span_.attributes = {{"http.request.method", request.method}, {"ferrox.request_id", request.id}};
  const auto add = [&](const char* name, auto value) { span_.attributes.push_back({name, std::move(value)}); };
  if (endpoint != nullptr) add("http.route", std::string(endpoint->path));
  if (outcome.status != 0) add("http.response.status_code", int64_t{outcome.status});
  if (!outcome.error_code.empty()) add("error.type", outcome.error_code);
  if (request.caller != nullptr) add("ferrox.caller", request.caller->name);
  if (endpoint != nullptr && endpoint->operation != nullptr) {
    add("gen_ai.operation.name", std::string(endpoint->operation));
    add("gen_ai.provider.name", std::string("ferrox"));
    add("gen_ai.request.model", model_id);
    add("gen_ai.response.model", model_id);
  }
  span_.is_error = outcome.status >= 500;
  is_finished_ = true;
}

void RequestTrace::add_totals(const AnswerTotals& totals) {
  if (totals.n_answers == 0) return;
  const auto add = [&](const char* name, auto value) { span_.attributes.push_back({name, std::move(value)}); };
  add("gen_ai.usage.input_tokens", totals.n_prompt);
  if (totals.n_cached) add("gen_ai.usage.cache_read.input_tokens", *totals.n_cached);
  add("gen_ai.usage.output_tokens", totals.n_generated);
  if (totals.n_answers > 1) add("gen_ai.request.choice.count", static_cast<int64_t>(totals.n_answers));
  if (!totals.finish_reasons.empty()) add("gen_ai.response.finish_reasons", totals.finish_reasons);
  if (totals.first_token) {
    const std::chrono::duration<double> seconds = *totals.first_token - arrival_;
    add("gen_ai.latency.time_to_first_token", seconds.count());
  }
}

void RequestTrace::tell(const AnswerTotals& totals) {
  if (!is_finished_) return;
  add_totals(totals);
  std::vector<Span> spans = phases_of(totals, span_, arrival_);
  spans.push_back(std::move(span_));
  exporter_->add(std::move(spans));
}

}  // namespace ferrox
