// Which events of a stream can still be told? The newest ones, by their numbers, as many as a number of bytes holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace ferrox {

/// Events are numbered from 1 on; those that are kept are neighbours.
class EventWindow {
 public:
  explicit EventWindow(size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Takes the event of number last() + 1. The oldest go beyond most_bytes; the newest always stays.
  void append(std::string event);

  uint64_t first() const { return first_; }  ///< the oldest that is kept; last() + 1: none is
  uint64_t last() const { return first_ + events_.size() - 1; }
  size_t n_bytes() const { return n_bytes_; }  ///< of the events, and of what the books take of each

  /// Whether all that follows event n is there: n is 0 for all of the stream, and at most last().
  bool can_follow(uint64_t n) const { return n + 1 >= first_ && n <= last(); }

  struct Piece {
    std::string bytes;
    uint64_t last;  ///< the number of its last event
  };
  /// The next events behind event n, of about most_bytes: one at least where there is one. CHECKs can_follow(n).
  Piece after(uint64_t n, size_t most_bytes) const;

 private:
  size_t most_bytes_;
  std::deque<std::string> events_;
  uint64_t first_ = 1;
  size_t n_bytes_ = 0;
};

}  // namespace ferrox
