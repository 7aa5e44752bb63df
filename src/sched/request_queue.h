// Who waits for room, whose turn is it, and until when do they wait?
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sched/caller.h"
#include "sched/fair_share.h"

namespace ferrox {

using TimePoint = std::chrono::steady_clock::time_point;

/// A request that was priced and has no pages yet.
struct QueuedRequest {
  uint64_t id;
  TimePoint deadline = TimePoint::max();  ///< max(): it waits as long as it takes
  int32_t n_choices = 1;                  ///< answers that are admitted together, each in a slot of its own
  Caller caller = {};
  int32_t priority = 0;  ///< a lower number goes first
};

/// Lines of waiting requests, one for each priority and caller. The lowest priority goes first; among callers their
/// shares decide; in a line the request of which most is cached goes first, but none is passed over more than
/// kMostPassedOver times. Not for several threads.
class RequestQueue {
 public:
  static constexpr size_t kMostCompared = 8;  ///< of a line, by what is cached of them
  static constexpr int kMostPassedOver = 4;

  /// Answers that wait and haven't run yet, and parked ones that wait to go on.
  int32_t n_waiting() const;
  int32_t n_parked() const;
  bool empty() const { return lines_.empty(); }

  /// At the end of its line.
  void push(const QueuedRequest& request);

  /// One that ran already (and stopped): before all others of its line.
  void push_parked(const QueuedRequest& request);

  /// What is cached of a request, in tokens; nothing when it rather lets others pass.
  using CachedLength = std::function<std::optional<int64_t>(uint64_t id)>;

  /// Forgets what `next` was told, so that it asks again.
  void begin_round();

  /// The request whose turn it is. `cached` is asked once in a round of each request that matters; `n_compared` of a
  /// line are compared.
  std::optional<uint64_t> next(const CachedLength& cached, size_t n_compared = kMostCompared);

  /// It is admitted, and its answers pay n_tokens together. Those before it in its line were passed over.
  void take(uint64_t id, int64_t n_tokens);

  /// One answer of a request that was taken has ended or is parked: FairShare's.
  void stop(const std::string& caller, int64_t n_tokens, int64_t n_unused) { shares_.stop(caller, n_tokens, n_unused); }

  /// One answer fewer waits in a request; the last one takes the request with it. False when it isn't here.
  bool remove_one(uint64_t id);

  /// Removes those whose deadline is at or before `now` and gives their numbers, oldest first.
  std::vector<uint64_t> take_expired(TimePoint now);

 private:
  struct Key {
    int32_t priority;
    std::string caller;
    auto operator<=>(const Key&) const = default;
  };
  struct Waiting {
    QueuedRequest request;
    bool is_parked = false;
    int n_passed_over = 0;
    bool was_asked = false;  ///< in this round
    std::optional<int64_t> n_cached = {};
  };
  using Line = std::deque<Waiting>;
  using Lines = std::map<Key, Line>;

  std::vector<Lines::iterator> lines_in_turn();
  static Waiting* next_of(Line& line, const CachedLength& cached, size_t n_compared);
  std::pair<Lines::iterator, Line::iterator> find(uint64_t id);
  void erase(Lines::iterator line, Line::iterator waiting);

  Lines lines_;  ///< none is empty
  FairShare shares_;
};

}  // namespace ferrox
