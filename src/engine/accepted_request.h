// What is known of a request while it waits, the first time or once it was parked?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/request.h"
#include "engine/token_loop.h"
#include "kv/prefix_report.h"
#include "sched/request_queue.h"

namespace ferrox {

/// How a request shares its prompt with others.
struct PrefixUse {
  bool is_on = false;
  std::string space;
  std::vector<int64_t> boundaries;       ///< lengths of the prompt at which its messages end
  std::optional<RequestId> source = {};  ///< waits for this one, which computes what it needs, to get as far as:
  int64_t source_length = 0;
  bool is_restored = false;  ///< all that the tiers have of it is in the tree
  int n_lost = 0;            ///< times that what they had couldn't be read
};

/// What became of a request so far, over all the times that it ran.
struct RunHistory {
  TimePoint admitted;                 ///< the first time
  std::optional<PrefixReport> found;  ///< of its prompt then; absent without a cache
  int64_t n_reused = 0;               ///< of its prompt then
  std::optional<TimePoint> prompt_done;
  std::optional<TimePoint> first_token;
  int64_t n_computed = 0;       ///< rows when it was parked last
  bool was_recomputed = false;  ///< rows were computed a second time after it was parked
};

/// A request that was accepted: before admission, and while it is parked, it waits as this.
struct AcceptedRequest {
  RequestId id;
  TokenLoop loop;
  int64_t n_positions;  ///< what it may grow to; what that needs is taken on admission
  EventSink sink;
  TimePoint arrival;
  PrefixUse prefix;
  Caller caller;
  int32_t priority;
  TimePoint deadline = TimePoint::max();   ///< of its admission
  std::optional<RunHistory> history = {};  ///< absent: it never ran
  int64_t n_paid = 0;                      ///< tokens of its caller's share, while it runs

  /// Tokens that it may still generate.
  int64_t n_unused() const { return n_positions - static_cast<int64_t>(loop.tokens().size()); }
};

/// Answers to one prompt that are admitted together: the first computes it, the others take it up where it ends.
using Choices = std::vector<AcceptedRequest>;

}  // namespace ferrox
