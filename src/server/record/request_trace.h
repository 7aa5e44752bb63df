// How does a request become spans? One for all of it, and one each for its wait, its prompt and its tokens.
#pragma once

#include <memory>
#include <string>

#include "server/http/exchange.h"
#include "telemetry/span_exporter.h"
#include "telemetry/trace_context.h"

namespace ferrox {

struct AnswerTotals;
struct Endpoint;

/// Never a word of a prompt or of an answer: spans go to other machines.
class RequestTrace {
 public:
  /// `caller`: what the request says of the trace that it is part of.
  RequestTrace(std::shared_ptr<SpanExporter> exporter, const TraceContext& caller);

  const std::string& trace_id() const { return span_.trace_id; }

  /// The exchange is over. `endpoint`: nullptr: it went nowhere.
  void finish(const HttpRequest& request, const HttpOutcome& outcome, const Endpoint* endpoint,
              const std::string& model_id);

  /// All is known: gives the spans to the exporter, if the exchange came to an end.
  void tell(const AnswerTotals& totals);

 private:
  void add_totals(const AnswerTotals& totals);

  std::shared_ptr<SpanExporter> exporter_;
  Span span_;  ///< of the whole request
  std::chrono::steady_clock::time_point arrival_{};
  bool is_finished_ = false;
};

}  // namespace ferrox
