// Who waits for room, whose turn is it, and until when do they wait?
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
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
/// kMostPassedOver times. What a step asks costs the same however many wait. Not for several threads.
class RequestQueue {
 public:
  static constexpr size_t kMostCompared = 8;  ///< of a line, by what is cached of them
  static constexpr size_t kMostAsked = 256;   ///< of a line, when they let others pass
  static constexpr int kMostPassedOver = 4;

  /// Answers that ran and wait to go on.
  int32_t n_parked() const { return n_parked_; }
  bool empty() const { return lines_.empty(); }

  /// At the end of its line.
  void push(const QueuedRequest& request);

  /// One that ran already (and stopped): before all others of its line.
  void push_parked(const QueuedRequest& request);

  /// What is cached of a request, in tokens; nothing when it rather lets others pass.
  using CachedLength = std::function<std::optional<int64_t>(uint64_t id)>;

  /// Forgets what `next` was told, so that it asks again.
  void begin_round() { ++round_; }

  /// The request whose turn it is. `cached` is asked once in a round of each request that matters; `n_compared` of a
  /// line are compared, and kMostAsked are asked to find them.
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
    uint64_t asked_in = 0;  ///< the last round in which it was
    std::optional<int64_t> n_cached = {};
  };
  using Line = std::list<Waiting>;
  using Lines = std::map<Key, Line>;
  struct Place {
    Lines::iterator line;
    Line::iterator waiting;
  };

  void add(Lines::iterator line, Line::iterator before, Waiting waiting);
  std::vector<Lines::iterator> lines_in_turn(Lines::iterator first, Lines::iterator end);
  Waiting* next_of(Line& line, const CachedLength& cached, size_t n_compared) const;
  void erase(uint64_t id);

  Lines lines_;                                         ///< none is empty
  std::unordered_map<uint64_t, Place> places_;          ///< of each request
  std::set<std::pair<TimePoint, uint64_t>> deadlines_;  ///< of those that have one
  int32_t n_parked_ = 0;
  uint64_t round_ = 1;
  FairShare shares_;
};

}  // namespace ferrox
