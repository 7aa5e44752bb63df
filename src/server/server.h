// How does a program serve an engine over HTTP? Open a Server, run it, let a signal end it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "server/answer/response_cache.h"
#include "server/http/limits.h"
#include "server/keys/api_key.h"
#include "server/streams/held_streams.h"
#include "telemetry/kv_event_publisher.h"
#include "telemetry/span_exporter.h"

namespace ferrox {

struct ServerOptions {
  std::string host = "127.0.0.1";             ///< an address or a name of this machine
  uint16_t port = 8383;                       ///< 0: a free one, told by Server::port()
  std::vector<std::string> api_keys;          ///< whose callers may do everything
  std::vector<ApiKey> keys;                   ///< whose callers may do what they say; none of either: none is asked for
  std::string tls_cert_file;                  ///< PEM; empty, as the next one then is: no TLS
  std::string tls_key_file;                   ///< PEM, the certificate's key
  bool allow_unauthenticated_remote = false;  ///< without it, a non-loopback address needs a key
  std::vector<std::string> allowed_hosts;     ///< names beside loopback that Host and Origin may carry; "*": any
  bool strict_fields = false;                 ///< refuse unknown fields instead of listing them
  bool strict_model = false;                  ///< refuse other model names than the loaded one's
  bool vllm_metrics = false;                  ///< /metrics has vLLM's names besides this server's own
  bool log_prompts = false;                   ///< without it, no line of the log has a word of what a client sent
  int64_t status_steps = 200;                 ///< forward passes between two status lines of the log; 0: none
  std::shared_ptr<SpanExporter> traces;       ///< where traces go; nullptr: nowhere
  std::shared_ptr<KvEventPublisher> kv_events;      ///< the engine's observer, for the metrics; nullptr: there is none
  bool handle_signals = true;                       ///< SIGTERM and SIGINT drain; a second one exits at once
  std::chrono::milliseconds drain_timeout{15'000};  ///< longest that running requests may go on after a signal
  /// Silence of an engine that has work after which GET /livez says that it hangs. It says at every half layer of a
  /// pass that it gets on: the largest models on the slowest machines take a second or two for that.
  std::chrono::milliseconds stall_limit{60'000};
  std::chrono::milliseconds keepalive_interval{1'000};  ///< between comments of a stream that has nothing to say
  std::chrono::milliseconds first_event_wait{3'000};    ///< a stream's status line waits this long for its first event
  ResponseCacheOptions responses;
  HeldStreamOptions streams;
  std::chrono::milliseconds sleep_idle{0};  ///< without a request it then gives memory back; 0: it never does
  HttpLimits limits;
};

/// Refuses (kInvalidArgument) to listen where other machines can call, unless a key or a flag says that they may.
Result<void> check_exposure(const ServerOptions& options);

/// Refuses (kInvalidArgument) an empty key, and a key or a name that stands twice.
Result<void> check_keys(const ServerOptions& options);

class Server {
 public:
  /// Binds and listens; answers when run() is called. `engine` outlives the server. kInvalidArgument: what
  /// check_exposure and check_keys refuse, one of the two files of TLS; kIo: a file isn't what it should be, the
  /// address can't be bound.
  static Result<std::unique_ptr<Server>> open(Engine& engine, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  std::string url() const;  ///< "http://127.0.0.1:8383", with TLS "https://..."

  enum class Ended {
    kDrained,   ///< nothing is left to do
    kDiskHangs  ///< a session is being written on a disk that doesn't answer: who waits for it waits for the disk
  };
  /// Serves on the calling thread until stop() or a signal, and what runs then has finished or was cancelled. After
  /// kDiskHangs the destructors of server and engine wait for the disk; a process may end without them: what isn't
  /// wholly written isn't there afterwards.
  Ended run();

  /// As the first signal does: no new work, what runs goes on up to drain_timeout, then run() returns. Any thread.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ferrox
