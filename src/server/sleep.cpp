#include "server/sleep.h"

#include <utility>

namespace ferrox {

uint64_t SleepState::order_sleep() {
  refuses_ = true;
  return ++order_;
}

void SleepState::enter(SleepLevel level) {
  n_sleeps_ += !is_asleep();
  level_ = level;
}

void SleepState::fall_asleep(SleepLevel level) { enter(level); }

bool SleepState::order_wake() {
  ++order_;
  const bool did_sleep = std::exchange(refuses_, false) || is_asleep();
  level_.reset();
  return did_sleep;
}

void SleepState::doze(SleepLevel level) { enter(level); }

void SleepState::note_activity(Time now) {
  active_at_ = now;
  if (!refuses_) level_.reset();
}

}  // namespace ferrox
