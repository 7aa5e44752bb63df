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

}  // namespace

RunningRequest::RunningRequest(Choices choices, std::unique_ptr<RequestKv> kv, const std::optional<PrefixReport>& found,
                               int32_t call_opener, TimePoint now)
    : accepted_(std::move(choices.front())),
      kv_(std::move(kv)),
      found_(found),
      n_reused_(kv_->n_reused()),
      call_opener_(call_opener),
      admitted_(now) {
  others_.assign(std::make_move_iterator(choices.begin() + 1), std::make_move_iterator(choices.end()));
}

RunningRequest::RunningRequest(AcceptedRequest accepted, std::unique_ptr<RequestKv> kv, const RunningRequest& sibling)
    : accepted_(std::move(accepted)),
      kv_(std::move(kv)),
      found_(sibling.found_),
      n_reused_(sibling.n_reused_),
      call_opener_(sibling.call_opener_),
      admitted_(sibling.admitted_),
      prompt_done_(sibling.prompt_done_) {}

int64_t RunningRequest::n_pending() const {
  return static_cast<int64_t>(accepted_.loop.tokens().size()) - kv_->length();
}

SequenceWork RunningRequest::work() const {
  return {prompt_done_ ? SequencePhase::kDecode : SequencePhase::kPrefill, std::min(n_pending(), kv_->most_rows())};
}

int64_t RunningRequest::length_to_share(std::span<const int32_t> prompt, const std::string& space) const {
  if (prompt_done_ || is_over() || !accepted_.prefix.is_on || accepted_.prefix.space != space) return 0;
  const auto own = accepted_.loop.tokens().first(static_cast<size_t>(accepted_.loop.n_prompt()));
  return std::min(common_length(own, prompt), static_cast<int64_t>(prompt.size()) - 1);
}

void RunningRequest::release_kv() {
  if (leaves_prefix()) kv_->publish(accepted_.loop.tokens());
  kv_.reset();
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
  if (prompt_done_) return;
  const PromptProgressEvent progress{kv_->length(), accepted_.loop.n_prompt(), n_reused_};
  accepted_.sink(progress);
  for (const AcceptedRequest& other : others_) other.sink(progress);
  if (kv_->length() == accepted_.loop.n_prompt()) prompt_done_ = now;
}

bool RunningRequest::take_logits(std::span<float> logits, TimePoint now) {
  Result<TokenLoop::Outcome> outcome = accepted_.loop.take_logits(logits);
  if (!outcome) {
    error_ = outcome.error();
    return true;
  }
  if (outcome->token) {
    if (!first_token_) first_token_ = now;
    const bool opens_call = outcome->token->id == call_opener_ && !outcome->finished;
    if (opens_call) kv_->observe_anchor(static_cast<int64_t>(accepted_.loop.tokens().size()));
    accepted_.sink(std::move(*outcome->token));
  }
  finished_ = std::move(outcome->finished);
  return finished_.has_value();
}

std::vector<std::unique_ptr<RunningRequest>> RunningRequest::fork_choices() {
  std::vector<std::unique_ptr<RunningRequest>> forks;
  if (others_.empty() || !prompt_done_) return forks;
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
  accepted_.sink(done_event(*finished_, usage(now)));
}

Usage RunningRequest::usage(TimePoint now) const {
  Usage usage;
  usage.prompt_tokens = accepted_.loop.n_prompt();
  usage.completion_tokens = accepted_.loop.n_generated();
  if (found_) {
    usage.cached_tokens = n_reused_;
    usage.prefix_end = prefix_end();
  }
  usage.queue_ms = to_ms(admitted_ - accepted_.arrival);
  usage.prefill_ms = to_ms(prompt_done_.value_or(now) - admitted_);
  if (prompt_done_) usage.decode_ms = to_ms(now - *prompt_done_);
  if (first_token_) usage.time_to_first_token_ms = to_ms(*first_token_ - accepted_.arrival);
  return usage;
}

std::optional<PrefixEnd> RunningRequest::prefix_end() const {
  if (found_->miss == PrefixMiss::kNone) return std::nullopt;
  const int64_t position = found_->miss == PrefixMiss::kWindow ? found_->n_reusable : found_->n_common;
  return PrefixEnd{found_->miss, position, accepted_.loop.tokens()[static_cast<size_t>(position)]};
}

void finish_unadmitted(AcceptedRequest& request, TimePoint now) {
  Usage usage;
  usage.prompt_tokens = request.loop.n_prompt();
  usage.queue_ms = to_ms(now - request.arrival);
  request.sink(done_event(request.loop.cancel(), usage));
}

}  // namespace ferrox
