// What does the engine thread keep of one admitted request? Its tokens, its pages, its place and its clock.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engine/request.h"
#include "engine/token_loop.h"
#include "kv/sequence_kv.h"
#include "nn/model.h"
#include "sched/request_queue.h"
#include "sched/step_planner.h"

namespace ferrox {

/// A request that was accepted: before admission it waits as this.
struct AcceptedRequest {
  RequestId id;
  TokenLoop loop;
  int64_t n_positions;  ///< what it may grow to, reserved on admission
  EventSink sink;
  TimePoint arrival;
};

class RunningRequest {
 public:
  /// `kv` has room for all of accepted.n_positions.
  RunningRequest(AcceptedRequest accepted, SequenceKv kv, int n_kinds, TimePoint now);

  RequestId id() const { return accepted_.id; }

  /// Rows that are not in the KV yet.
  SequenceWork work() const;

  /// The next n_rows pending tokens and where they go.
  std::span<const int32_t> pending_tokens(int32_t n_rows) const;
  BatchSegment segment(int32_t n_rows) const;

  /// Whether the last of the next n_rows rows is the last token there is, so that its logits are wanted.
  bool reaches_end(int32_t n_rows) const;

  /// n_rows rows went through the model. Tells the sink while that is prompt.
  void rows_done(int32_t n_rows, TimePoint now);

  /// The logits of the last token. Sends its token; gives true when the answer is over, and then finish() must follow.
  bool take_logits(std::span<float> logits, TimePoint now);

  /// Ends as cancelled at the next finish().
  void cancel();

  bool is_over() const { return finished_.has_value() || error_.has_value(); }

  /// Gives the pages back.
  void release_kv() { kv_.release(); }

  /// Sends the last event. Call once, when is_over().
  void finish(TimePoint now);

 private:
  Usage usage(TimePoint now) const;

  AcceptedRequest accepted_;
  SequenceKv kv_;
  std::vector<PageTable> tables_;  ///< of each attention kind
  TimePoint admitted_;
  std::optional<TimePoint> prompt_done_;
  std::optional<TimePoint> first_token_;
  std::optional<Finished> finished_;
  std::optional<Error> error_;
};

/// The last event of a request that is cancelled before it was admitted.
void finish_unadmitted(AcceptedRequest& request, TimePoint now);

}  // namespace ferrox
