#include "engine/running_request.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "kv/prefix_node.h"

namespace ferrox {
namespace {

double to_ms(TimePoint::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

DoneEvent done_event(const Finished& finished, Usage usage) {
  return {finished.reason(), finished.text(), finished.matched_stop(), finished.stop_token(), usage};
}

PrefixEnd prefix_end(const PrefixReport& found, const TokenLoop& loop) {
  const int64_t position = found.miss == PrefixMiss::kWindow ? found.n_reusable : found.n_common;
  return {found.miss, position, loop.tokens()[static_cast<size_t>(position)]};
}

Usage usage_of(const AcceptedRequest& request, const std::optional<RunHistory>& history, TimePoint now) {
  Usage usage;
  usage.prompt_tokens = request.loop.n_prompt();
  usage.completion_tokens = request.loop.n_generated();
  usage.queue_ms = to_ms((history ? history->admitted : now) - request.arrival);
  if (!history) return usage;
  if (history->found) {
    usage.cached_tokens = history->n_reused;
    if (history->found->miss != PrefixMiss::kNone) usage.prefix_end = prefix_end(*history->found, request.loop);
  }
  usage.prefill_ms = to_ms(history->prompt_done.value_or(now) - history->admitted);
  if (history->prompt_done) usage.decode_ms = to_ms(now - *history->prompt_done);
  if (history->first_token) usage.time_to_first_token_ms = to_ms(*history->first_token - request.arrival);
  return usage;
}

RunHistory first_run(const std::optional<PrefixReport>& found, int64_t n_reused, TimePoint now) {
  return {.admitted = now, .found = found, .n_reused = n_reused, .prompt_done = {}, .first_token = {}};
}

}  // namespace

RunningRequest::RunningRequest(Choices choices, std::unique_ptr<RequestKv> kv, const std::optional<PrefixReport>& found,
                               int32_t call_opener, TimePoint now)
    : accepted_(std::move(choices.front())),
      kv_(std::move(kv)),
      history_(accepted_.history.value_or(first_run(found, kv_->n_reused(), now))),
      n_load_(static_cast<int64_t>(accepted_.loop.tokens().size())),
      call_opener_(call_opener) {
  history_.was_recomputed = kv_->n_reused() < history_.n_computed;
  others_.assign(std::make_move_iterator(choices.begin() + 1), std::make_move_iterator(choices.end()));
}

RunningRequest::RunningRequest(AcceptedRequest accepted, std::unique_ptr<RequestKv> kv, const RunningRequest& sibling)
    : accepted_(std::move(accepted)),
      kv_(std::move(kv)),
      history_(sibling.history_),
      n_load_(sibling.n_load_),
      is_loaded_(true),
      call_opener_(sibling.call_opener_) {}

void RunningRequest::add_ids(std::vector<RequestId>& ids) const {
  ids.push_back(id());
  for (const AcceptedRequest& other : others_) ids.push_back(other.id);
}

int64_t RunningRequest::n_pending() const {
  return static_cast<int64_t>(accepted_.loop.tokens().size()) - kv_->length();
}

SequenceWork RunningRequest::work() const {
  return {is_loaded_ ? SequencePhase::kDecode : SequencePhase::kPrefill, std::min(n_pending(), kv_->most_rows())};
}

int64_t RunningRequest::length_to_share(std::span<const int32_t> prompt, const std::string& space) const {
  if (is_loaded_ || is_over() || !accepted_.prefix.is_on || accepted_.prefix.space != space) return 0;
  const auto own = accepted_.loop.tokens().first(static_cast<size_t>(n_load_));
  return std::min(common_length(own, prompt), static_cast<int64_t>(prompt.size()) - 1);
}

void RunningRequest::release_kv() {
  history_.n_computed = kv_->length();
  if (leaves_prefix()) kv_->publish(accepted_.loop.tokens());
  kv_.reset();
}

AcceptedRequest RunningRequest::park() {
  accepted_.history = history_;
  accepted_.prefix.is_restored = false;
  return std::move(accepted_);
}

std::span<const int32_t> RunningRequest::pending_tokens(int32_t n_rows) const {
  return accepted_.loop.tokens().subspan(static_cast<size_t>(kv_->length()), static_cast<size_t>(n_rows));
}

BatchSegment RunningRequest::begin_rows(int32_t n_rows) {
  const int64_t first_position = kv_->length();
  return {n_rows, first_position, kv_->begin_step(n_rows), kv_->state()};
}

bool RunningRequest::reaches_end(int32_t n_rows) const { return n_pending() == n_rows; }

void RunningRequest::rows_done(TimePoint now) {
  kv_->end_step(accepted_.loop.tokens());
  if (is_loaded_) return;
  is_loaded_ = kv_->length() == n_load_;
  if (history_.prompt_done) return;  // it was parked since
  const PromptProgressEvent progress{kv_->length(), accepted_.loop.n_prompt(), history_.n_reused};
  accepted_.sink(progress);
  for (const AcceptedRequest& other : others_) other.sink(progress);
  if (is_loaded_) history_.prompt_done = now;
}

void RunningRequest::take_choice(TimePoint now) {
  Result<TokenLoop::Outcome> outcome = accepted_.loop.take_choice();
  if (!outcome) {
    error_ = outcome.error();
    return;
  }
  if (outcome->token) {
    if (!history_.first_token) history_.first_token = now;
    const bool opens_call = outcome->token->id == call_opener_ && !outcome->finished;
    if (opens_call) kv_->observe_anchor(static_cast<int64_t>(accepted_.loop.tokens().size()));
    accepted_.sink(std::move(*outcome->token));
  }
  finished_ = std::move(outcome->finished);
}

std::vector<std::unique_ptr<RunningRequest>> RunningRequest::fork_choices() {
  std::vector<std::unique_ptr<RunningRequest>> forks;
  if (others_.empty() || !is_loaded_) return forks;
  auto held = kv_->fork_choices(static_cast<int64_t>(others_.size()));
  for (size_t i = 0; i < held.size(); ++i) {
    forks.emplace_back(new RunningRequest(std::move(others_[i]), std::move(held[i]), *this));
  }
  others_.clear();
  return forks;
}

Choices RunningRequest::cancel(const std::unordered_set<RequestId>& ids) {
  Choices gone;
  const auto first_gone = std::stable_partition(others_.begin(), others_.end(),
                                                [&](const AcceptedRequest& other) { return !ids.contains(other.id); });
  gone.assign(std::make_move_iterator(first_gone), std::make_move_iterator(others_.end()));
  others_.erase(first_gone, others_.end());
  if (is_over() || !ids.contains(id())) return gone;
  if (others_.empty()) {
    finished_ = accepted_.loop.cancel();
    return gone;
  }
  gone.push_back(std::exchange(accepted_, std::move(others_.front())));
  others_.erase(others_.begin());
  return gone;
}

void RunningRequest::finish(TimePoint now) {
  CHECK(is_over(), "only what is over is finished");
  if (error_) return accepted_.sink(std::move(*error_));
  accepted_.sink(done_event(*finished_, usage_of(accepted_, history_, now)));
}

void finish_waiting(AcceptedRequest& request, TimePoint now) {
  const Finished finished = request.loop.cancel();
  request.sink(done_event(finished, usage_of(request, request.history, now)));
}

}  // namespace ferrox
