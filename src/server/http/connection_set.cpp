// How are connections counted and closed?
#include "server/http/connection_set.h"

#include <algorithm>
#include <vector>

#include "server/http/connection.h"

namespace ferrox {
namespace {

/// The part of all connections that gives way at once: as many as may come before the next look.
constexpr size_t kPartClosed = 16;

}  // namespace

size_t ConnectionSet::n_busy() const {
  return static_cast<size_t>(std::count_if(all_.begin(), all_.end(), [](const Connection* c) { return c->busy(); }));
}

void ConnectionSet::close_idle() {
  for (Connection* connection : all_) {
    if (!connection->busy() && !connection->fresh()) connection->close();
  }
}

void ConnectionSet::close_all() {
  for (Connection* connection : all_) connection->close();
}

void ConnectionSet::close_longest_waiting(std::chrono::steady_clock::time_point before) {
  std::vector<Connection*> waiting;
  for (Connection* connection : all_) {
    if (!connection->busy() && connection->waiting_since() <= before) waiting.push_back(connection);
  }
  const size_t n_closed = std::min(waiting.size(), all_.size() / kPartClosed + 1);
  const auto last_closed = waiting.begin() + static_cast<ptrdiff_t>(n_closed);
  std::ranges::partial_sort(waiting, last_closed, {}, &Connection::waiting_since);
  std::for_each(waiting.begin(), last_closed, [](Connection* connection) { connection->close(); });
}

bool ConnectionSet::reserve_body(size_t n_bytes, size_t limit_bytes) {
  if (n_bytes > limit_bytes - std::min(body_bytes_, limit_bytes)) return false;
  body_bytes_ += n_bytes;
  return true;
}

bool BodyShare::resize(size_t n_bytes) {
  if (n_bytes > n_bytes_ && !set_.reserve_body(n_bytes - n_bytes_, limit_bytes_)) return false;
  if (n_bytes < n_bytes_) set_.release_body(n_bytes_ - n_bytes);
  n_bytes_ = n_bytes;
  return true;
}

}  // namespace ferrox
