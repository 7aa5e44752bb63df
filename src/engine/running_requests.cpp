#include "engine/running_requests.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ferrox {

RunningRequests::RunningRequests(int32_t n_parallel, PrefixArchive* archive)
    : archive_(archive), slots_(static_cast<size_t>(std::max(n_parallel, 0))) {}

RunningRequest* RunningRequests::find(RequestId id) const {
  const auto place = std::ranges::find(requests_, id, [](const auto& each) { return each->id(); });
  return place == requests_.end() ? nullptr : place->get();
}

int32_t RunningRequests::n_slots_taken() const {
  return std::accumulate(requests_.begin(), requests_.end(), 0,
                         [](int32_t sum, const auto& request) { return sum + request->n_slots(); });
}

void RunningRequests::start(std::unique_ptr<RunningRequest> request) {
  const auto slot = std::ranges::find(slots_, false, &SlotState::is_busy);
  CHECK(slot != slots_.end(), "who runs has a slot");
  *slot = {true, request->space(), {}};
  request->set_slot(static_cast<int32_t>(slot - slots_.begin()));
  requests_.push_back(std::move(request));
}

std::unique_ptr<RunningRequest> RunningRequests::remove(RequestId id) {
  const auto place = std::ranges::find(requests_, id, [](const auto& each) { return each->id(); });
  CHECK(place != requests_.end(), "who leaves was there");
  std::unique_ptr<RunningRequest> request = std::move(*place);
  requests_.erase(place);
  leave_slot(*request);
  return request;
}

RunningRequests::Requests RunningRequests::remove_over() {
  Requests over;
  for (auto& request : requests_) {
    if (!request->is_over()) continue;
    leave_slot(*request);
    over.push_back(std::move(request));
  }
  std::erase(requests_, nullptr);
  return over;
}

std::vector<SlotState> RunningRequests::slots() const {
  std::vector<SlotState> slots = slots_;
  for (const auto& request : requests_) {
    const auto tokens = request->tokens();
    slots[static_cast<size_t>(request->slot())].tokens.assign(tokens.begin(), tokens.end());
  }
  return slots;
}

void RunningRequests::leave_slot(RunningRequest& request) {
  request.release_kv();
  SlotState& slot = slots_[static_cast<size_t>(request.slot())];
  slot.is_busy = false;
  if (!request.leaves_prefix()) return;
  if (archive_ != nullptr) archive_->keep(request.space(), request.tokens());
  slot.tokens.assign(request.tokens().begin(), request.tokens().end());
}

}  // namespace ferrox
