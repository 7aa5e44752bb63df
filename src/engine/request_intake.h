// What becomes of a request before it waits? It is checked and priced, on the thread that brings it, or refused.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/accepted_request.h"
#include "engine/engine_loop_options.h"
#include "engine/request.h"
#include "engine/request_inbox.h"
#include "engine/token_loop.h"
#include "kv/request_kv.h"
#include "sched/admission.h"

namespace ferrox {

/// Safe from any thread. All that it is given outlives it.
class RequestIntake {
 public:
  RequestIntake(const LoopVocabulary& vocabulary, const EngineLoopOptions& options, const KvTerms& terms,
                RequestInbox& inbox)
      : vocabulary_(vocabulary), options_(options), terms_(terms), inbox_(inbox) {}

  // As Engine's.
  Result<std::vector<RequestId>> submit_all(std::vector<NewRequest> requests);
  Result<void> check_number(size_t n_requests) const;
  Result<AdmissionAnswer> ask_admission(std::span<const int32_t> prompt, std::optional<int64_t> max_tokens,
                                        int32_t n_choices) const;

 private:
  AdmissionLimits limits() const { return {options_.context_length, terms_, options_.default_max_tokens}; }
  Result<std::vector<RequestId>> accept(std::vector<NewRequest> requests, TimePoint arrival);
  Result<void> accept_choices(std::span<NewRequest> requests, TimePoint arrival, TimePoint deadline,
                              std::vector<Choices>& groups) const;
  std::vector<int64_t> pages_together(const Reservation& needed, int64_t n_prompt, size_t n_choices) const;
  std::vector<int64_t> message_ends(std::span<const int32_t> prompt) const;
  TimePoint deadline_of(int64_t timeout_ms, TimePoint arrival) const;

  const LoopVocabulary& vocabulary_;
  const EngineLoopOptions& options_;
  const KvTerms& terms_;
  RequestInbox& inbox_;
};

}  // namespace ferrox
