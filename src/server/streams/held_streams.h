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

/// I/O thread only. Time is passed in.
class HeldStreams {
 public:
  using Time = HeldStream::Time;

  HeldStreams(const asio::any_io_executor& executor, const HeldStreamOptions& options)
      : executor_(executor), options_(options) {}

  const HeldStreamOptions& options() const { return options_; }

  /// Whether one more of `owner`'s may be opened: nothing. It can't: seconds until one of those that are kept has gone,
  /// or ended and can give way; counts a refusal. `answer_s`: how long an answer takes, in seconds, as far as is known.
  std::optional<int64_t> wait_for_room(const ApiKey* owner, double answer_s, Time now);

  /// Opens one, in the place of another if need be: of the one that ended first of those whose readers have all; else
  /// of those that ended and that nobody reads, which are of whoever has most, if that is `owner` or has more than it.
  /// CHECKs that there is room.
  std::shared_ptr<HeldStream> open(const ApiKey* owner, std::unique_ptr<AnswerWriter> writer, Time now);

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
  std::unordered_map<const ApiKey*, int64_t> count_by_owner() const;
  int64_t n_places_for(const ApiKey* owner, Time now) const;
  std::shared_ptr<HeldStream> who_gives_way_to(const ApiKey* owner) const;
  int64_t seconds_until_one_goes(double answer_s, Time now) const;

  asio::any_io_executor executor_;
  HeldStreamOptions options_;
  std::unordered_map<std::string, std::shared_ptr<HeldStream>> by_id_;
  /// Owners that were refused, and until when a place is kept for each of them from those who hold more.
  std::unordered_map<const ApiKey*, Time> refused_;
  Stats stats_;  ///< its counters alone
};

}  // namespace ferrox
