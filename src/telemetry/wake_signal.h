// How is a thread woken that waits for sockets? By a file beside them that becomes readable.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace ferrox {

/// A number in a file, readable while it isn't 0.
class WakeSignal {
 public:
  WakeSignal() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) { CHECK(fd_ >= 0, "the system has an event file"); }
  ~WakeSignal() { close(fd_); }
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  int fd() const { return fd_; }

  /// Any thread.
  void set() { static_cast<void>(eventfd_write(fd_, 1)); }

  void reset() {
    eventfd_t value = 0;
    static_cast<void>(eventfd_read(fd_, &value));
  }

 private:
  int fd_;
};

}  // namespace ferrox
