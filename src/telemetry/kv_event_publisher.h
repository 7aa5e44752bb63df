// Who tells routers what the prefix cache holds? A thread with a ZeroMQ socket that publishes, and one that replays.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "kv/prefix_observer.h"
#include "telemetry/kv_event_queue.h"

namespace ferrox {

struct KvEventPublisherOptions {
  std::string endpoint;         ///< "tcp://*:5557": bound to when it has a star, "::" or 0.0.0.0, or is ipc or inproc;
                                ///< otherwise connected to, as vLLM does
  std::string replay_endpoint;  ///< the same for old messages; empty: none are kept
  std::string topic;            ///< the first part of each message
  size_t most_queued_bytes = size_t{32} << 20;
  size_t most_unread = 1'000;                     ///< messages that a subscriber may leave, before it misses some
  size_t most_replayed = 10'000;                  ///< messages that are kept for replay
  size_t most_replayed_bytes = size_t{64} << 20;  ///< of them
  std::chrono::milliseconds linger{1'000};        ///< what was sent has so long to leave at the end
};

/// Messages are [topic, sequence as 8 bytes big-endian, encoded KvEventBatch]; the first one says that all is cleared.
/// Who sends [sequence as 8 bytes big-endian] to the replay socket (behind an empty part, as REQ sockets put it) gets
/// [empty, sequence, batch] for each message kept from there on, and then [empty, -1 as 8 bytes, empty]. Who doesn't
/// read its answers gets no more than two whole ones.
class KvEventPublisher : public PrefixObserver {
 public:
  /// Errors: ZeroMQ can't use an endpoint (kInvalidArgument, naming it); too many files are open (kIo).
  static Result<std::shared_ptr<KvEventPublisher>> open(KvEventPublisherOptions options);

  /// Sends what is queued.
  ~KvEventPublisher() override;
  KvEventPublisher(const KvEventPublisher&) = delete;
  KvEventPublisher& operator=(const KvEventPublisher&) = delete;

  void stored(const StoredPages& pages) override;
  void removed(std::span<const uint64_t> hashes) override;
  void cleared() override;

  /// Any thread.
  KvEventStats stats() const { return queue_.stats(); }

 private:
  struct Sockets;

  KvEventPublisher(const KvEventPublisherOptions& options, std::unique_ptr<Sockets> sockets);
  void run();

  std::unique_ptr<Sockets> sockets_;  ///< the thread's
  KvEventQueue queue_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;  ///< last: it starts when all else stands
};

}  // namespace ferrox
