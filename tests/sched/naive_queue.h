// What does the queue do when nothing is kept beside the lines? It looks at all that wait: the judge of RequestQueue.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sched/fair_share.h"
#include "sched/request_queue.h"

namespace ferrox::testing {

class NaiveQueue {
 public:
  int32_t n_parked() const;
  bool empty() const { return lines_.empty(); }
  void push(const QueuedRequest& request);
  void push_parked(const QueuedRequest& request);
  using CachedLength = std::function<std::optional<int64_t>(uint64_t id)>;
  void begin_round();
  std::optional<uint64_t> next(const CachedLength& cached, size_t n_compared = RequestQueue::kMostCompared);
  void take(uint64_t id, int64_t n_tokens);
  void stop(const std::string& caller, int64_t n_tokens, int64_t n_unused) { shares_.stop(caller, n_tokens, n_unused); }
  bool remove_one(uint64_t id);
  const QueuedRequest* request(uint64_t id) {
    const auto [line, found] = find(id);
    return line == lines_.end() ? nullptr : &found->request;
  }
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

inline int32_t NaiveQueue::n_parked() const {
  int32_t n = 0;
  for (const auto& [key, line] : lines_) n += static_cast<int32_t>(std::ranges::count_if(line, &Waiting::is_parked));
  return n;
}

inline void NaiveQueue::push(const QueuedRequest& request) {
  shares_.wait(request.caller, request.n_choices);
  lines_[{request.priority, request.caller.name}].push_back({request});
}

inline void NaiveQueue::push_parked(const QueuedRequest& request) {
  CHECK(request.n_choices == 1, "answers are parked one by one");
  shares_.wait(request.caller, 1);
  lines_[{request.priority, request.caller.name}].push_front({.request = request, .is_parked = true});
}

inline void NaiveQueue::begin_round() {
  for (auto& [key, line] : lines_) {
    for (Waiting& each : line) each.was_asked = false;
  }
}

/// Those of one priority side by side; of callers that are equal, whose first request is older.
inline std::vector<NaiveQueue::Lines::iterator> NaiveQueue::lines_in_turn() {
  std::vector<Lines::iterator> turns;
  for (auto line = lines_.begin(); line != lines_.end(); ++line) turns.push_back(line);
  std::ranges::stable_sort(turns, [this](const Lines::iterator& a, const Lines::iterator& b) {
    const Key& one = a->first;
    const Key& two = b->first;
    if (one.priority != two.priority) return one.priority < two.priority;
    if (shares_.goes_before(one.caller, two.caller)) return true;
    if (shares_.goes_before(two.caller, one.caller)) return false;
    return a->second.front().request.id < b->second.front().request.id;
  });
  return turns;
}

inline NaiveQueue::Waiting* NaiveQueue::next_of(Line& line, const CachedLength& cached, size_t n_compared) {
  if (line.front().is_parked) return &line.front();
  Waiting* best = nullptr;
  size_t n = 0;
  for (Waiting& each : line) {
    if (!std::exchange(each.was_asked, true)) each.n_cached = cached(each.request.id);
    if (!each.n_cached) continue;
    if (each.n_passed_over >= RequestQueue::kMostPassedOver) return &each;
    if (best == nullptr || *each.n_cached > *best->n_cached) best = &each;
    if (++n == n_compared) break;
  }
  return best;
}

inline std::optional<uint64_t> NaiveQueue::next(const CachedLength& cached, size_t n_compared) {
  for (const Lines::iterator& line : lines_in_turn()) {
    if (const Waiting* const found = next_of(line->second, cached, n_compared)) return found->request.id;
  }
  return std::nullopt;
}

inline void NaiveQueue::take(uint64_t id, int64_t n_tokens) {
  const auto [line, taken] = find(id);
  CHECK(line != lines_.end(), "only what waits is taken");
  for (auto each = line->second.begin(); each != taken; ++each) each->n_passed_over += each->n_cached.has_value();
  shares_.start(line->first.caller, taken->request.n_choices, n_tokens);
  erase(line, taken);
}

inline bool NaiveQueue::remove_one(uint64_t id) {
  const auto [line, found] = find(id);
  if (line == lines_.end()) return false;
  shares_.leave(line->first.caller, 1);
  if (--found->request.n_choices == 0) erase(line, found);
  return true;
}

inline std::vector<uint64_t> NaiveQueue::take_expired(TimePoint now) {
  std::vector<uint64_t> expired;
  for (const auto& [key, line] : lines_) {
    for (const Waiting& each : line) {
      if (each.request.deadline <= now) expired.push_back(each.request.id);
    }
  }
  std::ranges::sort(expired);
  for (const uint64_t id : expired) {
    const auto [line, found] = find(id);
    shares_.leave(line->first.caller, found->request.n_choices);
    erase(line, found);
  }
  return expired;
}

inline std::pair<NaiveQueue::Lines::iterator, NaiveQueue::Line::iterator> NaiveQueue::find(uint64_t id) {
  for (auto line = lines_.begin(); line != lines_.end(); ++line) {
    const auto found = std::ranges::find(line->second, id, [](const Waiting& each) { return each.request.id; });
    if (found != line->second.end()) return {line, found};
  }
  return {lines_.end(), {}};
}

inline void NaiveQueue::erase(Lines::iterator line, Line::iterator waiting) {
  line->second.erase(waiting);
  if (line->second.empty()) lines_.erase(line);
}

}  // namespace ferrox::testing
