#include "server/sleep.h"

namespace ferrox {

uint64_t SleepState::order_sleep() {
  refuses_ = true;
  return ++order_;
}

void SleepState::fall_asleep(SleepLevel level) {
  n_sleeps_ += !is_asleep();
  level_ = level;
}

bool SleepState::order_wake(Time now) {
  ++order_;
  const bool did_sleep = refuses_.exchange(false) || is_asleep();
  level_.reset();
  active_at_ = now;
  return did_sleep;
}

void SleepState::note_activity(Time now) {
  active_at_ = now;
  if (!refuses_) level_.reset();
}

}  // namespace ferrox
