// Which connections exist, which of them work on a request, and how much do their bodies hold?
#pragma once

#include <chrono>
#include <cstddef>
#include <unordered_set>

namespace ferrox {

class Connection;

/// Owned by the listener, used on the I/O thread only.
class ConnectionSet {
 public:
  void add(Connection* connection) { all_.insert(connection); }
  void remove(Connection* connection) { all_.erase(connection); }
  size_t size() const { return all_.size(); }

  /// Connections between a request's first byte and its answer's last.
  size_t n_busy() const;
  /// Closes those between two requests. One that was only just opened stays: its first request may be under way.
  void close_idle();
  void close_all();
  /// Closes some of those that have waited for a request for longest, since `before` at least: others find no place.
  void close_longest_waiting(std::chrono::steady_clock::time_point before);

  /// Takes `n_bytes` of the budget for bodies. False: not now.
  bool reserve_body(size_t n_bytes, size_t limit_bytes);
  void release_body(size_t n_bytes) { body_bytes_ -= n_bytes; }
  size_t n_body_bytes() const { return body_bytes_; }

 private:
  std::unordered_set<Connection*> all_;
  size_t body_bytes_ = 0;
};

/// What one body takes of the budget for bodies: given back at the end of its life.
class BodyShare {
 public:
  /// `set` outlives it. Nothing is taken yet.
  BodyShare(ConnectionSet& set, size_t limit_bytes) : set_(set), limit_bytes_(limit_bytes) {}
  ~BodyShare() { set_.release_body(n_bytes_); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  /// Makes it `n_bytes`. False: there is no room for so much now, and it stays as it is.
  bool resize(size_t n_bytes);

 private:
  ConnectionSet& set_;
  const size_t limit_bytes_;
  size_t n_bytes_ = 0;
};

}  // namespace ferrox
