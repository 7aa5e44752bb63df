// How is one request sent over a connection of its own, and its answer read as it comes?
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <optional>
#include <string>

#include "base/http_url.h"
#include "loadgen/record.h"

namespace ferrox {

/// Where requests go. Found once for a run, so that no request waits for a name.
struct StreamTarget {
  HttpUrl url;
  std::string path;     ///< "/v1/completions"
  std::string api_key;  ///< empty: none is sent
  boost::asio::ip::tcp::resolver::results_type addresses;
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
/// outlive the coroutine. The connection is closed at the end; closing `stream` from elsewhere on its thread makes the
/// request a failure.
boost::asio::awaitable<std::string> stream_request(boost::beast::tcp_stream& stream, const StreamTarget& target,
                                                   const StreamRequest& request, const RunClock& clock,
                                                   RequestRecord& record);

}  // namespace ferrox
