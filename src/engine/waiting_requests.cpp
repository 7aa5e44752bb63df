#include "engine/waiting_requests.h"

#include <algorithm>
#include <utility>

namespace ferrox {
namespace {

QueuedRequest queued(const AcceptedRequest& request, size_t n_choices) {
  return {request.id, request.deadline, static_cast<int32_t>(n_choices), request.caller, request.priority};
}

}  // namespace

void WaitingRequests::add(Choices choices) {
  const AcceptedRequest& first = choices.front();
  queue_.push(queued(first, choices.size()));
  for (const AcceptedRequest& choice : choices) first_of_[choice.id] = first.id;
  waiting_.emplace(first.id, std::move(choices));
}

void WaitingRequests::add_parked(AcceptedRequest request) {
  request.deadline = TimePoint::max();  // it was admitted in time
  queue_.push_parked(queued(request, 1));
  const RequestId id = request.id;
  first_of_[id] = id;
  waiting_[id].push_back(std::move(request));
}

std::optional<RequestId> WaitingRequests::next(const CachedLength& cached, size_t n_compared) {
  return queue_.next([&](RequestId first) { return cached(waiting_.at(first)); }, n_compared);
}

Choices WaitingRequests::extract(RequestId first) {
  Choices choices = std::move(waiting_.extract(first).mapped());
  for (const AcceptedRequest& choice : choices) first_of_.erase(choice.id);
  if (!choices.front().history) n_left_ += static_cast<int32_t>(choices.size());
  return choices;
}

Choices WaitingRequests::take(RequestId first, int64_t n_reused) {
  Choices taken = extract(first);
  int64_t n_tokens = 0;
  for (AcceptedRequest& choice : taken) {
    choice.n_paid = choice.n_unused();
    if (&choice == &taken.front()) choice.n_paid += static_cast<int64_t>(choice.loop.tokens().size()) - n_reused;
    n_tokens += choice.n_paid;
  }
  queue_.take(first, n_tokens);
  return taken;
}

std::optional<AcceptedRequest> WaitingRequests::cancel(RequestId id) {
  const auto indexed = first_of_.find(id);
  if (indexed == first_of_.end()) return std::nullopt;
  const RequestId first = indexed->second;
  first_of_.erase(indexed);
  Choices& choices = waiting_.at(first);
  const auto found = std::ranges::find(choices, id, &AcceptedRequest::id);
  AcceptedRequest cancelled = std::move(*found);
  choices.erase(found);
  queue_.remove_one(first);
  if (choices.empty()) waiting_.erase(first);
  n_left_ += !cancelled.history;
  return cancelled;
}

Choices WaitingRequests::take_expired(TimePoint now) {
  Choices expired;
  for (const RequestId first : queue_.take_expired(now)) {
    for (AcceptedRequest& choice : extract(first)) expired.push_back(std::move(choice));
  }
  return expired;
}

}  // namespace ferrox
