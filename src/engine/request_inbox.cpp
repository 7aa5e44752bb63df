#include "engine/request_inbox.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ferrox {

Result<std::vector<RequestId>> RequestInbox::push(std::vector<Group> groups, TimePoint deadline) {
  const std::lock_guard lock(mutex_);
  if (draining_ || stopping_) return make_error(ErrorCode::kUnavailable, "draining: no new requests are admitted");
  // While nobody was found to lack room, open slots are as good as taken by those who wait.
  const int32_t n_open_slots = head_is_blocked_ ? 0 : n_parallel_ - status_.n_running;
  size_t n_choices = 0;
  for (const Group& group : groups) n_choices += group.choices.size();
  TRY(queue_.check_room(static_cast<int32_t>(n_choices), n_open_slots));
  std::vector<RequestId> ids;
  for (auto& [choices, pages] : groups) {
    const RequestId first = next_id_;
    TRY(queue_.push({first, pages, deadline, static_cast<int32_t>(choices.size())}, n_open_slots));
    for (AcceptedRequest& choice : choices) {
      choice.id = next_id_++;
      choice.deadline = deadline;
      ids.push_back(choice.id);
      live_.insert(choice.id);
    }
    waiting_.emplace(first, std::move(choices));
  }
  status_.n_queued = queue_.size();
  work_.notify_one();
  return ids;
}

void RequestInbox::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  if (!live_.contains(id)) return;
  cancelled_.insert(id);
  work_.notify_one();
}

void RequestInbox::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

bool RequestInbox::wait_idle(int64_t timeout_ms) {
  constexpr int64_t kLongestMs = int64_t{1000} * 60 * 60 * 24 * 365;  // a year: far from the clock's overflow
  std::unique_lock lock(mutex_);
  const std::chrono::milliseconds timeout(std::clamp<int64_t>(timeout_ms, 0, kLongestMs));
  return idle_.wait_for(lock, timeout, [this] { return live_.empty(); });
}

EngineStatus RequestInbox::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void RequestInbox::count_refusal(ErrorCode code) {
  const std::lock_guard lock(mutex_);
  status_.refused.too_long += code == ErrorCode::kContextLength;
  status_.refused.too_large += code == ErrorCode::kMemoryBudget;
  status_.refused.queue_full += code == ErrorCode::kUnavailable && !draining_ && !stopping_;
}

void RequestInbox::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  work_.notify_one();
}

bool RequestInbox::wait_for_work(bool something_runs) {
  std::unique_lock lock(mutex_);
  work_.wait(lock,
             [&] { return stopping_ || something_runs || !queue_.empty() || !cancelled_.empty() || !jobs_.empty(); });
  return !stopping_;
}

Choices RequestInbox::extract(RequestId id) { return std::move(waiting_.extract(id).mapped()); }

/// One of the choices that wait. The others stay in their place, with the pages that were counted for all of them.
bool RequestInbox::take_waiting(RequestId id, Choices& taken) {
  for (auto& [first, choices] : waiting_) {
    const auto found =
        std::find_if(choices.begin(), choices.end(), [id](const AcceptedRequest& each) { return each.id == id; });
    if (found == choices.end()) continue;
    taken.push_back(std::move(*found));
    choices.erase(found);
    if (choices.empty()) {
      queue_.remove(first);
      waiting_.erase(waiting_.find(first));
    }
    return true;
  }
  return false;
}

RequestInbox::Cancelled RequestInbox::take_cancelled() {
  Cancelled taken;
  const std::lock_guard lock(mutex_);
  for (const RequestId id : std::exchange(cancelled_, {})) {
    if (!take_waiting(id, taken.waiting)) taken.running.insert(id);
  }
  status_.n_queued = queue_.size();
  return taken;
}

std::vector<RequestId> RequestInbox::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.ids();
}

Choices& RequestInbox::waiting_choices(RequestId first) {
  const std::lock_guard lock(mutex_);
  return waiting_.at(first);  // a reference outlives what others push
}

Choices RequestInbox::take(RequestId first) {
  const std::lock_guard lock(mutex_);
  queue_.remove(first);
  status_.n_queued = queue_.size();
  return extract(first);
}

void RequestInbox::note_blocked(bool is_blocked) {
  const std::lock_guard lock(mutex_);
  head_is_blocked_ = is_blocked;
}

bool RequestInbox::post(Job job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  jobs_.push_back(std::move(job));
  work_.notify_one();
  return true;
}

std::vector<RequestInbox::Job> RequestInbox::take_jobs() {
  const std::lock_guard lock(mutex_);
  return std::exchange(jobs_, {});
}

Choices RequestInbox::take_expired(TimePoint now) {
  Choices expired;
  const std::lock_guard lock(mutex_);
  for (const RequestId first : queue_.take_expired(now)) {
    for (AcceptedRequest& choice : extract(first)) expired.push_back(std::move(choice));
  }
  status_.refused.no_room += expired.size();
  status_.n_queued = queue_.size();
  return expired;
}

void RequestInbox::count_admission(int64_t n_prompt, int64_t n_cached) {
  const std::lock_guard lock(mutex_);
  status_.n_prompt_tokens += static_cast<uint64_t>(n_prompt);
  status_.n_cached_tokens += static_cast<uint64_t>(n_cached);
}

void RequestInbox::publish(int32_t n_running, int64_t n_pages_total, const std::vector<int32_t>& n_free_pages,
                           std::vector<int32_t> n_available_pages, uint64_t n_steps) {
  const std::lock_guard lock(mutex_);
  status_.n_running = n_running;
  status_.n_pages_total = n_pages_total;
  status_.n_pages_free = std::accumulate(n_free_pages.begin(), n_free_pages.end(), int64_t{0});
  status_.n_pages_cached =
      std::accumulate(n_available_pages.begin(), n_available_pages.end(), int64_t{0}) - status_.n_pages_free;
  n_available_pages_ = std::move(n_available_pages);
  status_.n_steps = n_steps;
}

bool RequestInbox::would_run_now(std::span<const int64_t> pages, int32_t n_choices) const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && status_.n_running + n_choices <= n_parallel_ && fits_pages(pages, n_available_pages_);
}

void RequestInbox::retire(RequestId id) {
  const std::lock_guard lock(mutex_);
  live_.erase(id);
  cancelled_.erase(id);
  idle_.notify_all();
}

void RequestInbox::cancel_all() {
  const std::lock_guard lock(mutex_);
  cancelled_ = live_;
}

}  // namespace ferrox
