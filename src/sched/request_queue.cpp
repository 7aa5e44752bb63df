#include "sched/request_queue.h"

#include <algorithm>

namespace ferrox {

int32_t RequestQueue::size() const {
  int32_t n = 0;
  for (const QueuedRequest& request : waiting_) n += request.n_choices;
  return n;
}

Result<void> RequestQueue::check_room(int32_t n_choices, int32_t n_open_slots) const {
  const int32_t n_waiting = size() - n_open_slots;
  if (n_waiting + n_choices > max_waiting_) {
    return make_error(ErrorCode::kUnavailable, "queue is full: {} requests wait, at most {} may",
                      std::max(0, n_waiting), max_waiting_);
  }
  return {};
}

Result<void> RequestQueue::push(const QueuedRequest& request, int32_t n_open_slots) {
  TRY(check_room(request.n_choices, n_open_slots));
  waiting_.push_back(request);
  return {};
}

std::vector<uint64_t> RequestQueue::ids() const {
  std::vector<uint64_t> ids;
  for (const QueuedRequest& request : waiting_) ids.push_back(request.id);
  return ids;
}

bool RequestQueue::remove(uint64_t id) {
  return std::erase_if(waiting_, [id](const QueuedRequest& request) { return request.id == id; }) > 0;
}

std::vector<uint64_t> RequestQueue::take_expired(TimePoint now) {
  std::vector<uint64_t> expired;
  for (const QueuedRequest& request : waiting_) {
    if (request.deadline <= now) expired.push_back(request.id);
  }
  std::erase_if(waiting_, [now](const QueuedRequest& request) { return request.deadline <= now; });
  return expired;
}

}  // namespace ferrox
