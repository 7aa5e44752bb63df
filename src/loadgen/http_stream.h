// How is one request sent over a connection, and its answer read as it comes?
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>

#include "base/http_url.h"
#include "loadgen/client_stream.h"
#include "loadgen/record.h"

namespace ferrox {

/// Whether a connection carries one request or many.
enum class ConnectionUse { kOnce, kKept };

/// Where requests go. Found once for a run, so that no request waits for a name.
struct StreamTarget {
  HttpUrl url;
  std::string path;     ///< "/v1/completions"
  std::string api_key;  ///< empty: none is sent
  ConnectionUse use = ConnectionUse::kKept;
  ClientStream::Addresses addresses;
};

/// When the run began, and what time it is there.
struct RunClock {
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  double now_ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  }
};

struct StreamRequest {
  std::string body;
  std::optional<size_t> drop_after;   ///< tokens after which the connection is closed; 0: once the request is sent
  std::chrono::milliseconds timeout;  ///< for all of it
};

/// Sets status, outcome, error, times and counts of `record`; gives the answer's text. Never throws. All arguments
/// outlive the coroutine. A stream that isn't connected is; one that is and that the server has closed meanwhile is
/// connected again. Afterwards it is connected if it can carry another request. Closing `stream` from elsewhere on its
/// thread makes the request a failure.
boost::asio::awaitable<std::string> stream_request(ClientStream& stream, const StreamTarget& target,
                                                   const StreamRequest& request, const RunClock& clock,
                                                   RequestRecord& record);

}  // namespace ferrox
