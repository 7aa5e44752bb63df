#include "engine/request_intake.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace ferrox {

TimePoint RequestIntake::deadline_of(int64_t timeout_ms, TimePoint arrival) const {
  constexpr int64_t kLongestMs = int64_t{1000} * 60 * 60 * 24 * 365;  // a year: far from the clock's overflow
  if (timeout_ms < 0) timeout_ms = options_.default_timeout_ms > 0 ? options_.default_timeout_ms : kLongestMs;
  if (timeout_ms >= kLongestMs) return TimePoint::max();
  return arrival + std::chrono::milliseconds(timeout_ms);
}

Result<std::vector<RequestId>> RequestIntake::submit_all(std::vector<NewRequest> requests) {
  Result<std::vector<RequestId>> ids = accept(std::move(requests), std::chrono::steady_clock::now());
  if (!ids) inbox_.count_refusal(ids.error().code);
  return ids;
}

Result<void> RequestIntake::check_number(size_t n_requests) const {
  const int64_t most = int64_t{options_.n_parallel} + options_.max_queue;
  if (static_cast<int64_t>(n_requests) <= most) return {};
  return make_error(ErrorCode::kInvalidArgument, "expected at most {} answers at once ({} run, {} wait), found {}",
                    most, options_.n_parallel, options_.max_queue, n_requests);
}

Result<std::vector<RequestId>> RequestIntake::accept(std::vector<NewRequest> requests, TimePoint arrival) {
  CHECK(!requests.empty(), "somebody asks for something");
  TRY(check_number(requests.size()));
  const TimePoint deadline = deadline_of(requests.front().request.timeout_ms, arrival);
  std::vector<Choices> groups;
  for (size_t first = 0, last = 0; first < requests.size(); first = last) {
    const GenerationRequest& one = requests[first].request;
    const auto shares_prompt = [&](const GenerationRequest& other) {
      return other.prompt == one.prompt && other.max_tokens == one.max_tokens &&
             other.use_prefix_cache == one.use_prefix_cache && other.cache_space == one.cache_space &&
             other.caller.name == one.caller.name && other.priority == one.priority;
    };
    for (last = first + 1; last < requests.size() && shares_prompt(requests[last].request);) ++last;
    TRY(accept_choices(std::span(requests).subspan(first, last - first), arrival, deadline, groups));
  }
  return inbox_.push(std::move(groups));
}

/// Prices answers to one prompt: as one group where slots and store hold all of them, else each on its own.
Result<void> RequestIntake::accept_choices(std::span<NewRequest> requests, TimePoint arrival, TimePoint deadline,
                                           std::vector<Choices>& groups) const {
  const GenerationRequest& first = requests.front().request;
  const auto n_prompt = static_cast<int64_t>(first.prompt.size());
  TRY(check_prompt_ids(first.prompt, vocabulary_.n_vocab));
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, first.max_tokens));
  const bool are_together = !pages_together(needed, n_prompt, requests.size()).empty();
  const PrefixUse prefix{first.use_prefix_cache, first.cache_space, message_ends(first.prompt)};
  for (auto& [request, sink] : requests) {
    if (&request == &first || !are_together) groups.emplace_back();
    const Caller caller = request.caller;
    const int32_t priority = request.priority;
    TRY_ASSIGN(TokenLoop loop, TokenLoop::create(std::move(request), needed.max_tokens, vocabulary_));
    groups.back().push_back(
        {0, std::move(loop), needed.n_positions, std::move(sink), arrival, prefix, caller, priority, deadline});
  }
  return {};
}

/// Pages of choices that run side by side off one prompt; none where slots or store don't hold all of them.
std::vector<int64_t> RequestIntake::pages_together(const Reservation& needed, int64_t n_prompt,
                                                   size_t n_choices) const {
  const auto n = static_cast<int64_t>(n_choices);
  if (n > options_.n_parallel) return {};
  std::vector<int64_t> pages = choice_pages(terms_, n_prompt, needed.max_tokens, n);
  if (!fits_pages(pages, terms_.n_pages)) return {};
  return pages;
}

Result<AdmissionAnswer> RequestIntake::ask_admission(std::span<const int32_t> prompt, std::optional<int64_t> max_tokens,
                                                     int32_t n_choices) const {
  TRY(check_number(static_cast<size_t>(n_choices)));
  TRY(check_prompt_ids(prompt, vocabulary_.n_vocab));
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, max_tokens));
  const std::vector<int64_t> all(terms_.n_pages.begin(), terms_.n_pages.end());
  const std::vector<int64_t> together = pages_together(needed, n_prompt, static_cast<size_t>(n_choices));
  return AdmissionAnswer{.n_prompt = n_prompt,
                         .max_tokens = needed.max_tokens,
                         .n_positions = needed.n_positions,
                         .most_positions = longest_request(terms_, n_prompt, options_.context_length),
                         .kv_bytes = bytes_of_pages(terms_, needed.pages),
                         .kv_bytes_limit = bytes_of_pages(terms_, all),
                         .runs_now = !together.empty() && inbox_.would_run_now(together, n_choices)};
}

/// Lengths of the prompt after each token that ends an answer: there messages end, and conversations branch.
std::vector<int64_t> RequestIntake::message_ends(std::span<const int32_t> prompt) const {
  std::vector<int64_t> ends;
  for (size_t i = 0; i + 1 < prompt.size(); ++i) {
    if (std::ranges::find(vocabulary_.end_tokens, prompt[i]) != vocabulary_.end_tokens.end()) {
      ends.push_back(static_cast<int64_t>(i) + 1);
    }
  }
  return ends;
}

}  // namespace ferrox
