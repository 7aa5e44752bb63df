// Which whole answers need no second run? Those that the same request would get again: kept for a while, and bounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/request.h"

namespace ferrox {

struct ResponseCacheOptions {
  int64_t most_entries = 0;                ///< 0: nothing is kept
  int64_t most_bytes = int64_t{64} << 20;  ///< of bodies, keys and what the books take of each
  std::chrono::milliseconds ttl{3'600'000};
};

/// A whole answer, every choice of which reached an end of its own. Nothing else can be kept.
class EndedAnswer {
 public:
  /// Nothing, when one of the choices was cancelled.
  static std::optional<EndedAnswer> make(std::string body, std::span<const FinishReason> reasons);

  const std::string& body() const { return body_; }

 private:
  explicit EndedAnswer(std::string body) : body_(std::move(body)) {}

  std::string body_;
};

/// What all that shapes an answer comes down to: the namespace of its caller's prefixes, the path, the body's bytes.
std::string response_key(std::string_view space, std::string_view path, std::string_view body);

/// The answer used longest ago goes first. Time is passed in. Not for several threads.
class ResponseCache {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ResponseCache(const ResponseCacheOptions& options) : options_(options) {}

  bool is_on() const { return options_.most_entries > 0; }

  /// The body that is kept under a key; nullptr: none is. Counts a hit or a miss. Valid until the next insert or find.
  const std::string* find(const std::string& key, Time now);

  /// An answer that isn't repeatable was asked for.
  void skip() { ++stats_.n_skips; }

  /// Keeps an answer, in place of the one of the same key; not one that is larger than all bytes there are.
  void insert(const std::string& key, const EndedAnswer& answer, Time now);

  struct Stats {
    uint64_t n_hits = 0;
    uint64_t n_misses = 0;
    uint64_t n_skips = 0;
    int64_t n_entries = 0;
    int64_t n_bytes = 0;
  };
  const Stats& stats() const { return stats_; }

 private:
  struct Entry {
    std::string key;
    std::string body;
    Time ends;
  };
  using Entries = std::list<Entry>;

  static int64_t bytes_of(const Entry& entry);
  void erase(Entries::iterator entry);

  ResponseCacheOptions options_;
  Entries entries_;                                                 ///< used last first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;  ///< keys are the entries'
  Stats stats_;
};

}  // namespace ferrox
