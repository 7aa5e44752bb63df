// Which connections exist, which of them work on a request, and how much do their bodies hold?
#pragma once

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

  /// Takes `n_bytes` of the budget for bodies. False: not now.
  bool reserve_body(size_t n_bytes, size_t limit_bytes);
  void release_body(size_t n_bytes) { body_bytes_ -= n_bytes; }

 private:
  std::unordered_set<Connection*> all_;
  size_t body_bytes_ = 0;
};

/// A share of the budget for bodies, given back at the end of its life.
class BodyReservation {
 public:
  BodyReservation(ConnectionSet& set, size_t n_bytes, size_t limit_bytes)
      : set_(set), n_bytes_(n_bytes), held_(set.reserve_body(n_bytes, limit_bytes)) {}
  ~BodyReservation() {
    if (held_) set_.release_body(n_bytes_);
  }
  BodyReservation(const BodyReservation&) = delete;
  BodyReservation& operator=(const BodyReservation&) = delete;

  explicit operator bool() const { return held_; }

 private:
  ConnectionSet& set_;
  size_t n_bytes_;
  bool held_;
};

}  // namespace ferrox
