#include "engine/request_inbox.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ferrox {

Result<std::vector<RequestId>> RequestInbox::push(std::vector<Choices> groups) {
  const std::lock_guard lock(mutex_);
  if (draining_ || stopping_) return make_error(ErrorCode::kUnavailable, "draining: no new requests are admitted");
  int32_t n_answers = 0;
  for (const Choices& choices : groups) n_answers += static_cast<int32_t>(choices.size());
  TRY(check_room(n_answers));
  std::vector<RequestId> ids;
  for (Choices& choices : groups) {
    for (AcceptedRequest& choice : choices) {
      choice.id = next_id_++;
      ids.push_back(choice.id);
      live_.insert(choice.id);
    }
    arrivals_.push_back(std::move(choices));
  }
  status_.n_queued += n_answers;
  work_.notify_one();
  return ids;
}

/// While nobody was found to lack room, open slots are as good as taken by those who wait.
Result<void> RequestInbox::check_room(int32_t n_answers) const {
  const int32_t n_open_slots = head_is_blocked_ ? 0 : n_parallel_ - status_.n_running;
  const int32_t n_waiting = status_.n_queued - n_open_slots;
  if (n_waiting + n_answers <= max_queue_) return {};
  return make_error(ErrorCode::kUnavailable, "queue is full: {} requests wait, at most {} may", std::max(0, n_waiting),
                    max_queue_);
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
  work_.wait(lock, [&] {
    return stopping_ || something_runs || status_.n_queued > 0 || !cancelled_.empty() || !jobs_.empty();
  });
  return !stopping_;
}

bool RequestInbox::are_cancelled(std::span<const RequestId> ids) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(ids, [this](RequestId id) { return cancelled_.contains(id); });
}

RequestInbox::News RequestInbox::take_news() {
  const std::lock_guard lock(mutex_);
  return {std::exchange(arrivals_, {}), std::exchange(cancelled_, {})};
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

void RequestInbox::count_expired() {
  const std::lock_guard lock(mutex_);
  ++status_.refused.no_room;
}

void RequestInbox::count_park() {
  const std::lock_guard lock(mutex_);
  ++status_.n_parks;
}

void RequestInbox::count_admission(int64_t n_prompt, std::optional<int64_t> n_cached) {
  const std::lock_guard lock(mutex_);
  status_.n_prompt_tokens += static_cast<uint64_t>(n_prompt);
  if (!n_cached) return;
  status_.n_looked_up_tokens += static_cast<uint64_t>(n_prompt);
  status_.n_cached_tokens += static_cast<uint64_t>(*n_cached);
}

void RequestInbox::publish(Snapshot snapshot) {
  const auto sum = [](const std::vector<int32_t>& pages) {
    return std::accumulate(pages.begin(), pages.end(), int64_t{0});
  };
  const std::lock_guard lock(mutex_);
  status_.n_running = snapshot.n_running;
  status_.n_parked = snapshot.n_parked;
  status_.n_queued -= snapshot.n_left;
  status_.n_pages_total = snapshot.n_pages_total;
  status_.n_pages_free = sum(snapshot.n_free_pages);
  status_.n_pages_cached = sum(snapshot.n_available_pages) - status_.n_pages_free;
  status_.n_steps = snapshot.n_steps;
  n_available_pages_ = std::move(snapshot.n_available_pages);
}

bool RequestInbox::would_run_now(std::span<const int64_t> pages, int32_t n_choices) const {
  const std::lock_guard lock(mutex_);
  return status_.n_queued + status_.n_parked == 0 && status_.n_running + n_choices <= n_parallel_ &&
         fits_pages(pages, n_available_pages_);
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
