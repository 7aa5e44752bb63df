#include "sched/request_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ferrox {

void RequestQueue::add(Lines::iterator line, Line::iterator before, Waiting waiting) {
  const QueuedRequest& request = waiting.request;
  const uint64_t id = request.id;
  shares_.wait(request.caller, request.n_choices);
  if (request.deadline != TimePoint::max()) deadlines_.emplace(request.deadline, id);
  n_parked_ += waiting.is_parked;
  const auto place = line->second.insert(before, std::move(waiting));
  CHECK(places_.emplace(id, Place{line, place}).second, "a request waits once");
}

void RequestQueue::push(const QueuedRequest& request) {
  const auto line = lines_.try_emplace({request.priority, request.caller.name}).first;
  add(line, line->second.end(), {request});
}

void RequestQueue::push_parked(const QueuedRequest& request) {
  CHECK(request.n_choices == 1, "answers are parked one by one");
  const auto line = lines_.try_emplace({request.priority, request.caller.name}).first;
  add(line, line->second.begin(), {.request = request, .is_parked = true});
}

/// Of lines of one priority; of callers that are equal, whose first request is older.
std::vector<RequestQueue::Lines::iterator> RequestQueue::lines_in_turn(Lines::iterator first, Lines::iterator end) {
  std::vector<Lines::iterator> turns;
  for (auto line = first; line != end; ++line) turns.push_back(line);
  std::ranges::stable_sort(turns, [this](const Lines::iterator& a, const Lines::iterator& b) {
    const std::string& one = a->first.caller;
    const std::string& two = b->first.caller;
    if (shares_.goes_before(one, two)) return true;
    if (shares_.goes_before(two, one)) return false;
    return a->second.front().request.id < b->second.front().request.id;
  });
  return turns;
}

RequestQueue::Waiting* RequestQueue::next_of(Line& line, const CachedLength& cached, size_t n_compared) const {
  if (line.front().is_parked) return &line.front();
  Waiting* best = nullptr;
  size_t n_asked = 0;
  size_t n = 0;
  for (Waiting& each : line) {
    if (++n_asked > kMostAsked) break;
    if (std::exchange(each.asked_in, round_) != round_) each.n_cached = cached(each.request.id);
    if (!each.n_cached) continue;
    if (each.n_passed_over >= kMostPassedOver) return &each;
    if (best == nullptr || *each.n_cached > *best->n_cached) best = &each;
    if (++n == n_compared) break;
  }
  return best;
}

std::optional<uint64_t> RequestQueue::next(const CachedLength& cached, size_t n_compared) {
  for (auto first = lines_.begin(); first != lines_.end();) {
    const int32_t priority = first->first.priority;
    auto end = first;
    while (end != lines_.end() && end->first.priority == priority) ++end;
    for (const Lines::iterator& line : lines_in_turn(first, end)) {
      if (const Waiting* const found = next_of(line->second, cached, n_compared)) return found->request.id;
    }
    first = end;
  }
  return std::nullopt;
}

void RequestQueue::take(uint64_t id, int64_t n_tokens) {
  const auto found = places_.find(id);
  CHECK(found != places_.end(), "only what waits is taken");
  const auto [line, taken] = found->second;
  for (auto each = line->second.begin(); each != taken; ++each) each->n_passed_over += each->n_cached.has_value();
  shares_.start(line->first.caller, taken->request.n_choices, n_tokens);
  erase(id);
}

bool RequestQueue::remove_one(uint64_t id) {
  const auto found = places_.find(id);
  if (found == places_.end()) return false;
  const auto [line, waiting] = found->second;
  shares_.leave(line->first.caller, 1);
  if (--waiting->request.n_choices == 0) erase(id);
  return true;
}

std::vector<uint64_t> RequestQueue::take_expired(TimePoint now) {
  std::vector<uint64_t> expired;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const uint64_t id = deadlines_.begin()->second;
    const auto [line, waiting] = places_.at(id);
    shares_.leave(line->first.caller, waiting->request.n_choices);
    erase(id);
    expired.push_back(id);
  }
  std::ranges::sort(expired);
  return expired;
}

void RequestQueue::erase(uint64_t id) {
  const auto [line, waiting] = places_.extract(id).mapped();
  deadlines_.erase({waiting->request.deadline, id});
  n_parked_ -= waiting->is_parked;
  line->second.erase(waiting);
  if (line->second.empty()) lines_.erase(line);
}

}  // namespace ferrox
