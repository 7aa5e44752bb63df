// What does the engine thread keep of one admitted request? Its tokens, its pages, its place and its clock.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "engine/accepted_request.h"
#include "kv/request_kv.h"
#include "nn/model.h"
#include "sched/step_planner.h"

namespace ferrox {

class RunningRequest {
 public:
  /// `kv` was taken for all `choices`. `found`: what was cached of their tokens, absent without a cache. `call_opener`
  /// is the token that opens a tool call, or -1. One that was parked goes on where it was.
  RunningRequest(Choices choices, std::unique_ptr<RequestKv> kv, const std::optional<PrefixReport>& found,
                 int32_t call_opener, TimePoint now);

  RequestId id() const { return accepted_.id; }

  /// Adds its own id, and those of the choices that wait for the prompt.
  void add_ids(std::vector<RequestId>& ids) const;

  /// Its place among those that run.
  int32_t slot() const { return slot_; }
  void set_slot(int32_t slot) { slot_ = slot; }

  /// Whether others may go on behind what it computes, in which namespace, and what that is.
  bool leaves_prefix() const { return !error_ && accepted_.prefix.is_on; }
  const std::string& space() const { return accepted_.prefix.space; }
  std::span<const int32_t> tokens() const { return accepted_.loop.tokens(); }
  bool is_at_prompt_end() const { return kv_->length() == accepted_.loop.n_prompt(); }
  const AcceptedRequest& accepted() const { return accepted_; }

  /// Rows that are not in the KV yet, and that the next step may have.
  SequenceWork work() const;

  /// Tokens of `prompt` that this request is about to compute, or is computing, and that others could go on behind: 0
  /// when there are none. `space` is the namespace of the prompt.
  int64_t length_to_share(std::span<const int32_t> prompt, const std::string& space) const;

  /// Whether it has still to compute the row before `length`.
  bool is_before(int64_t length) const { return !is_loaded_ && kv_->length() < length; }

  /// Somebody waits for the first `length` tokens of its prompt.
  void expect_branch(int64_t length) { kv_->expect_branch(length); }

  /// The next n_rows pending tokens and where they go.
  std::span<const int32_t> pending_tokens(int32_t n_rows) const;

  /// Where those rows go; they are to be written before the next call.
  BatchSegment begin_rows(int32_t n_rows);

  /// Whether the last of the next n_rows rows is the last token there is, so that its logits are wanted.
  bool reaches_end(int32_t n_rows) const;

  /// The rows that were begun went through the model. Tells the sink while that is prompt.
  void rows_done(TimePoint now);

  /// The rows that were begun were given up: what it holds is no good to anybody. It must be cancelled next.
  void lose_rows() { accepted_.prefix.is_on = false; }

  /// Chooses the next token by the logits of the last one, which it changes. Requests may do so side by side.
  void choose(std::span<float> logits) { accepted_.loop.choose(logits); }

  /// Sends the token that was chosen, or finds the answer over: then finish() must follow.
  void take_choice(TimePoint now);

  /// The other choices, once the prompt is done: each a request of its own whose next logits are this one's.
  std::vector<std::unique_ptr<RunningRequest>> fork_choices();

  /// Slots that it takes: its own, and one for each choice that waits for the prompt.
  int32_t n_slots() const { return 1 + static_cast<int32_t>(others_.size()); }

  /// Ends as cancelled at the next finish() if its id is one of these. While other choices wait for the prompt, one of
  /// them goes on in its place; those that end so are returned.
  Choices cancel(const std::unordered_set<RequestId>& ids);

  bool is_over() const { return finished_.has_value() || error_.has_value(); }

  /// Leaves what was computed to others and gives the pages back.
  void release_kv();

  /// Whether it may give its place to another and go on later: not while choices wait for it, and not when it was
  /// parked before and had to compute something again.
  bool may_park() const { return others_.empty() && !is_over() && !history_.was_recomputed; }

  /// Once its pages are given back: what waits to go on. Nothing else of this may be used then.
  AcceptedRequest park();

  /// Sends the last event. Call once, when is_over().
  void finish(TimePoint now);

 private:
  RunningRequest(AcceptedRequest accepted, std::unique_ptr<RequestKv> kv, const RunningRequest& sibling);
  int64_t n_pending() const;

  AcceptedRequest accepted_;
  Choices others_;                 ///< that wait for the end of the prompt
  std::unique_ptr<RequestKv> kv_;  ///< until release_kv()
  RunHistory history_;
  int64_t n_load_;          ///< tokens that are there from the start: the prompt, and what was generated before
  bool is_loaded_ = false;  ///< they are all computed
  int32_t call_opener_;
  int32_t slot_ = -1;
  std::optional<Finished> finished_;
  std::optional<Error> error_;
};

/// The last event of a request that is cancelled while it waits.
void finish_waiting(AcceptedRequest& request, TimePoint now);

}  // namespace ferrox
