#include "server/streams/event_window.h"

#include <utility>

#include "base/check.h"

namespace ferrox {
namespace {

/// What a queue and the heap take of an event besides its letters, generously.
constexpr size_t kEventBookBytes = 64;

size_t bytes_of(const std::string& event) { return kEventBookBytes + event.size(); }

}  // namespace

void EventWindow::append(std::string event) {
  n_bytes_ += bytes_of(event);
  events_.push_back(std::move(event));
  while (n_bytes_ > most_bytes_ && events_.size() > 1) {
    n_bytes_ -= bytes_of(events_.front());
    events_.pop_front();
    ++first_;
  }
}

EventWindow::Piece EventWindow::after(uint64_t n, size_t most_bytes) const {
  CHECK(can_follow(n), "what is told is kept");
  Piece piece{"", n};
  while (piece.last < last()) {
    const std::string& next = events_[piece.last + 1 - first_];
    if (!piece.bytes.empty() && piece.bytes.size() + next.size() > most_bytes) break;
    piece.bytes += next;
    ++piece.last;
  }
  return piece;
}

}  // namespace ferrox
