// Which streams can be taken up again? Those that were asked to be, by their ids: a bounded number, each bounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server/streams/held_stream.h"

namespace ferrox {

struct HeldStreamOptions {
  int64_t most_streams = 64;                    ///< 0: none can be taken up again
  size_t window_bytes = size_t{1} << 20;        ///< most bytes of events that each keeps
  std::chrono::milliseconds patience{120'000};  ///< that one runs with nobody attached, and is kept when it has ended
};

/// I/O thread only.
class HeldStreams {
 public:
  HeldStreams(const asio::any_io_executor& executor, const HeldStreamOptions& options)
      : executor_(executor), options_(options) {}

  const HeldStreamOptions& options() const { return options_; }

  /// Whether one more may be opened, in the place of one whose reader has all of it if need be. Counts a refusal.
  bool make_room();

  /// CHECKs that there is room.
  std::shared_ptr<HeldStream> open(const ApiKey* owner, std::unique_ptr<AnswerWriter> writer);

  /// nullptr: none of this id that `caller` began.
  std::shared_ptr<HeldStream> find(std::string_view id, const ApiKey* caller);

  void remove(const HeldStream& stream);

  /// Those that have ended are kept no longer, nor are those that end from now on.
  void let_go_all();

  size_t n_running() const;

  void count_resume() { ++stats_.n_resumes; }
  void count_gone() { ++stats_.n_gone; }

  struct Stats {
    int64_t n_streams = 0;
    int64_t n_detached = 0;  ///< of them, that run with nobody attached
    int64_t n_bytes = 0;     ///< of all windows
    uint64_t n_resumes = 0;
    uint64_t n_gone = 0;     ///< resumes from before what was kept
    uint64_t n_refused = 0;  ///< for lack of room
  };
  Stats stats() const;

 private:
  asio::any_io_executor executor_;
  HeldStreamOptions options_;
  std::unordered_map<std::string, std::shared_ptr<HeldStream>> by_id_;
  Stats stats_;  ///< its counters alone
};

}  // namespace ferrox
