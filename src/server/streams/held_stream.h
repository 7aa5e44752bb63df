// How does a stream outlive its connection? Its newest events are kept, whoever reads them and whether anybody does.
//
//   engine -> Generation -> run_stream -> HeldStream (writer, window) -> send_events -> whoever is attached now
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/answer/answer_writer.h"
#include "server/api_error.h"
#include "server/http/asio.h"
#include "server/streams/event_window.h"

namespace ferrox {

struct ApiKey;

/// Shared by who makes it and who reads it. Time is passed in. I/O thread only.
class HeldStream {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `owner`: whose key began it (nullptr: there are none). Nobody is attached yet.
  HeldStream(const asio::any_io_executor& executor, std::string id, const ApiKey* owner,
             std::unique_ptr<AnswerWriter> writer, size_t window_bytes, Time now);

  const std::string& id() const { return id_; }
  const ApiKey* owner() const { return owner_; }
  AnswerWriter& writer() { return *writer_; }
  const EventWindow& window() const { return window_; }

  // ---- who makes it

  /// There is something to say, if only that it waits: the status line may go out.
  void begin();
  /// Server-sent events, one after another. Each gets a number and a line with its id; comments have neither and go.
  void append(std::string_view events);
  /// It ended before it began: a reader is told by status.
  void refuse(ApiError error);
  void finish(Time now);

  bool has_begun() const { return has_begun_; }
  bool is_finished() const { return ended_at_.has_value(); }
  std::optional<Time> ended_at() const { return ended_at_; }
  const std::optional<ApiError>& refusal() const { return refusal_; }

  /// Whether nobody has been attached for `patience`.
  bool is_abandoned(Time now, std::chrono::milliseconds patience) const;

  /// Of one that has finished: waits until it is let go, `longest` at most.
  awaitable<void> linger(std::chrono::milliseconds longest);
  void let_go();

  // ---- who reads it

  /// The one reader there is: whoever comes later takes its place.
  class Attachment {
   public:
    explicit Attachment(HeldStream& stream) : stream_(stream), number_(stream.attach()) {}
    ~Attachment() { stream_.detach(number_, std::chrono::steady_clock::now()); }
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;

    bool is_current() const { return stream_.reader_ == number_; }

   private:
    HeldStream& stream_;
    uint64_t number_;
  };

  bool is_attached() const { return reader_ != 0; }

  /// A reader was given the last event.
  void note_told() { is_told_ = true; }
  bool is_told() const { return is_told_; }

  /// Waits until something changes: an event, the end, another reader, wake(). True: nothing did for so long.
  awaitable<bool> is_quiet_for(std::chrono::milliseconds longest);
  void wake() { changed_.cancel(); }

 private:
  uint64_t attach();
  void detach(uint64_t number, Time now);

  const std::string id_;
  const ApiKey* const owner_;
  const std::unique_ptr<AnswerWriter> writer_;
  EventWindow window_;
  std::optional<ApiError> refusal_;
  bool has_begun_ = false;
  bool is_told_ = false;
  bool is_let_go_ = false;
  uint64_t n_readers_ = 0;  ///< that ever came
  uint64_t reader_ = 0;     ///< the number of the one that is attached; 0: nobody
  Time detached_since_;
  std::optional<Time> ended_at_;
  asio::steady_timer changed_;  ///< cancelled to wake the reader
  asio::steady_timer end_;      ///< cancelled to end the lingering
};

}  // namespace ferrox
