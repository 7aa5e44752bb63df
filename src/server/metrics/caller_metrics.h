// What did each key ask for since the start? As many names as there are keys, whoever calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/request.h"

namespace ferrox {

class KeyRing;

/// Written on the I/O thread and the engine's, read by any.
struct CallerCounts {
  std::atomic<uint64_t> n_requests = 0;   ///< whose answers were begun
  std::atomic<uint64_t> n_prompt = 0;     ///< tokens of prompts that were admitted, each counted once
  std::atomic<uint64_t> n_cached = 0;     ///< of them, that were there
  std::atomic<uint64_t> n_generated = 0;  ///< tokens
};

class CallerMetrics : public std::enable_shared_from_this<CallerMetrics> {
 public:
  explicit CallerMetrics(const KeyRing& keys);

  /// nullptr: nobody of this name has a key. As long as this lives.
  CallerCounts* find(const std::string& name);

  /// A sink for one answer to the caller of these counts, which may be nullptr: counts each event and passes it on.
  /// `leads`: the answer before isn't one to the same prompt. It may outlive all but this, which it holds.
  EventSink follow(CallerCounts* counts, bool leads, EventSink next);

  const std::map<std::string, CallerCounts>& by_name() const { return by_name_; }

 private:
  std::map<std::string, CallerCounts> by_name_;
};

}  // namespace ferrox
