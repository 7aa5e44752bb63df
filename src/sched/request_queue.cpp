#include "sched/request_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ferrox {

int32_t RequestQueue::n_waiting() const {
  int32_t n = 0;
  for (const auto& [key, line] : lines_) {
    for (const Waiting& each : line) n += each.is_parked ? 0 : each.request.n_choices;
  }
  return n;
}

int32_t RequestQueue::n_parked() const {
  int32_t n = 0;
  for (const auto& [key, line] : lines_) n += static_cast<int32_t>(std::ranges::count_if(line, &Waiting::is_parked));
  return n;
}

void RequestQueue::push(const QueuedRequest& request) {
  shares_.wait(request.caller, request.n_choices);
  lines_[{request.priority, request.caller.name}].push_back({request});
}

void RequestQueue::push_parked(const QueuedRequest& request) {
  CHECK(request.n_choices == 1, "answers are parked one by one");
  shares_.wait(request.caller, 1);
  lines_[{request.priority, request.caller.name}].push_front({.request = request, .is_parked = true});
}

void RequestQueue::begin_round() {
  for (auto& [key, line] : lines_) {
    for (Waiting& each : line) each.was_asked = false;
  }
}

/// Those of one priority side by side; of callers that are equal, whose first request is older.
std::vector<RequestQueue::Lines::iterator> RequestQueue::lines_in_turn() {
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

RequestQueue::Waiting* RequestQueue::next_of(Line& line, const CachedLength& cached, size_t n_compared) {
  if (line.front().is_parked) return &line.front();
  Waiting* best = nullptr;
  size_t n = 0;
  for (Waiting& each : line) {
    if (!std::exchange(each.was_asked, true)) each.n_cached = cached(each.request.id);
    if (!each.n_cached) continue;
    if (each.n_passed_over >= kMostPassedOver) return &each;
    if (best == nullptr || *each.n_cached > *best->n_cached) best = &each;
    if (++n == n_compared) break;
  }
  return best;
}

std::optional<uint64_t> RequestQueue::next(const CachedLength& cached, size_t n_compared) {
  for (const Lines::iterator& line : lines_in_turn()) {
    if (const Waiting* const found = next_of(line->second, cached, n_compared)) return found->request.id;
  }
  return std::nullopt;
}

void RequestQueue::take(uint64_t id, int64_t n_tokens) {
  const auto [line, taken] = find(id);
  CHECK(line != lines_.end(), "only what waits is taken");
  for (auto each = line->second.begin(); each != taken; ++each) each->n_passed_over += each->n_cached.has_value();
  shares_.start(line->first.caller, taken->request.n_choices, n_tokens);
  erase(line, taken);
}

bool RequestQueue::remove_one(uint64_t id) {
  const auto [line, found] = find(id);
  if (line == lines_.end()) return false;
  shares_.leave(line->first.caller, 1);
  if (--found->request.n_choices == 0) erase(line, found);
  return true;
}

std::vector<uint64_t> RequestQueue::take_expired(TimePoint now) {
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

std::pair<RequestQueue::Lines::iterator, RequestQueue::Line::iterator> RequestQueue::find(uint64_t id) {
  for (auto line = lines_.begin(); line != lines_.end(); ++line) {
    const auto found = std::ranges::find(line->second, id, [](const Waiting& each) { return each.request.id; });
    if (found != line->second.end()) return {line, found};
  }
  return {lines_.end(), {}};
}

void RequestQueue::erase(Lines::iterator line, Line::iterator waiting) {
  line->second.erase(waiting);
  if (line->second.empty()) lines_.erase(line);
}

}  // namespace ferrox
