// What do the records of a run say together?
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/record.h"
#include "loadgen/spread.h"

namespace ferrox {

/// What a request must keep to count as served well.
struct ServiceLevel {
  std::optional<double> ttft_ms;  ///< most until the first token
  std::optional<double> itl_ms;   ///< most between two tokens, on the average of the request

  bool is_given() const { return ttft_ms.has_value() || itl_ms.has_value(); }
};

struct Goodput {
  size_t n_good = 0;
  double share = 0;  ///< of the requests that were sent and not dropped by us
  double rate_per_s = 0;
};

struct Figures {
  std::array<size_t, std::size(kOutcomeNames)> n_outcomes{};  ///< by Outcome
  std::map<int, size_t> n_statuses;                           ///< of refused requests
  std::map<std::string, size_t> n_errors;                     ///< of refused and failed requests
  double wall_s = 0;                                          ///< from the begin to the last end
  double requests_per_s = 0;                                  ///< answered to the end
  int64_t input_tokens = 0;                                   ///< of requests whose usage the server told
  int64_t output_tokens = 0;                                  ///< with what came of dropped and failed answers
  double input_per_s = 0;
  double output_per_s = 0;
  bool counts_events = false;            ///< the server told no usage of some answer: events were counted as tokens
  std::optional<int64_t> cached_tokens;  ///< absent: the server tells none
  double cached_share = 0;               ///< of the input of those requests that told it
  Spread ttft_ms;                        ///< of requests answered to the end, as the next two
  Spread itl_ms;                         ///< gaps between events with text
  Spread e2e_ms;
  Spread late_ms;  ///< of all requests sent: how long after its time the work on it began
  std::optional<Goodput> goodput;

  size_t n_of(Outcome outcome) const { return n_outcomes[static_cast<size_t>(outcome)]; }
};

/// Until the first token, from when the request was due; absent: no text came.
std::optional<double> ttft_ms(const RequestRecord& record);

/// From when the request was due to its end.
double e2e_ms(const RequestRecord& record);

/// Between two tokens, on the average; absent for fewer than two. An event of several tokens counts as these.
std::optional<double> mean_itl_ms(const RequestRecord& record);

/// Gaps between events with text, of one request.
std::vector<double> gaps_ms(const RequestRecord& record);

/// Samples of all requests that were answered to the end.
std::vector<double> all_ttft_ms(const std::vector<RequestRecord>& records);
std::vector<double> all_gaps_ms(const std::vector<RequestRecord>& records);

Figures figures_of(const std::vector<RequestRecord>& records, const ServiceLevel& level);

}  // namespace ferrox
