// How is a thread woken that waits for sockets? By a file beside them that becomes readable.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

namespace ferrox {

/// A number in a file, readable while it isn't 0.
class WakeSignal {
 public:
  WakeSignal() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~WakeSignal() {
    if (is_open()) close(fd_);
  }
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  /// False: too many files are open, and it can't be used.
  bool is_open() const { return fd_ >= 0; }

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
