// Did somebody press Ctrl-C? A count that the signal raises and the work looks at.
#pragma once

namespace ferrox {

/// While it lives, Ctrl-C is counted instead of ending the process. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Presses since the guard was made or `reset`.
  int count() const;
  void reset();
};

}  // namespace ferrox
