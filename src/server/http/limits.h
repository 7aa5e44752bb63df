// What may one client cost? Bytes and time, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>

namespace ferrox {

struct HttpLimits {
  size_t max_header_bytes = 64 * 1024;  ///< also of a chunked body's trailer
  size_t max_body_bytes = 32 * 1024 * 1024;
  /// Bodies being read or worked on, all connections together, as far as they have come: many large uploads must not
  /// add up to an OOM kill.
  size_t max_bodies_bytes = 256 * 1024 * 1024;
  int max_connections = 4096;
  /// An idle keep-alive connection, and the longest a request's header may take.
  std::chrono::milliseconds idle_timeout{75'000};
  /// The longest that agreeing on keys may take: a few round trips of a slow line.
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::milliseconds body_timeout{300'000};
  /// The longest one write may wait for the client to read.
  std::chrono::milliseconds write_timeout{30'000};
  /// Bytes of events that may wait for a slow reader before its request is cancelled.
  size_t max_stream_backlog_bytes = 1024 * 1024;
  /// The kernel's send buffer: small, so that a slow reader is noticed by its backlog and not hidden by the kernel.
  int send_buffer_bytes = 256 * 1024;
  /// After a refusal, what is still being sent is read and dropped this long, or the client would see a reset; as long
  /// an ending TLS connection waits for the client's end.
  std::chrono::milliseconds linger_timeout{2'000};
};

}  // namespace ferrox
