#include "sched/parking.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace ferrox {
namespace {

/// The newest request that may be parked, of a caller that has others which go on; `running.size()` when none may.
size_t newest_of_largest(std::span<const RunningPlace> running, const std::vector<bool>& is_taken, int32_t priority) {
  std::map<std::string, int32_t> n_running;
  for (size_t i = 0; i < running.size(); ++i) n_running[running[i].caller] += !is_taken[i];
  size_t found = running.size();
  int32_t most = 1;
  for (size_t i = running.size(); i-- > 0;) {
    const RunningPlace& place = running[i];
    if (is_taken[i] || !place.may_park || place.priority < priority || n_running[place.caller] <= most) continue;
    most = n_running[place.caller];
    found = i;
  }
  return found;
}

}  // namespace

std::vector<size_t> parking_order(std::span<const RunningPlace> running, const std::string& caller, int32_t priority) {
  std::vector<size_t> order;
  std::vector<bool> is_taken(running.size(), false);
  for (size_t i = running.size(); i-- > 0;) {
    if (running[i].may_park && running[i].priority > priority) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t i) { return std::pair(running[i].priority, running[i].caller == caller); });
  for (const size_t i : order) is_taken[i] = true;
  if (std::ranges::any_of(running, [&](const RunningPlace& place) { return place.caller == caller; })) return order;
  for (size_t i = newest_of_largest(running, is_taken, priority); i < running.size();
       i = newest_of_largest(running, is_taken, priority)) {
    is_taken[i] = true;
    order.push_back(i);
  }
  return order;
}

}  // namespace ferrox
