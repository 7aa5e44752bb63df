// How is a server loaded? Conversations begin when a place comes free, or when their time has come.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/http_url.h"
#include "base/result.h"
#include "loadgen/arrivals.h"
#include "loadgen/client_stream.h"
#include "loadgen/http_stream.h"
#include "loadgen/record.h"
#include "loadgen/request_body.h"
#include "loadgen/scenario.h"

namespace ferrox {

struct LoadOptions {
  HttpUrl url;
  TlsTrust tls;  ///< of an https url
  ConnectionUse connections = ConnectionUse::kKept;
  std::string api_key;  ///< empty: none is sent
  BodyOptions body;
  std::chrono::milliseconds timeout{600'000};  ///< for one request, from its connection to its last byte
  size_t concurrency = 8;                      ///< closed loop: conversations at once
  std::optional<ArrivalOptions> arrivals;      ///< open loop, of conversations, which wait for nobody
  bool handle_signals = false;  ///< the first SIGINT drops what runs; a second one has its default effect
};

struct LoadResult {
  std::vector<RequestRecord> records;  ///< one for each request of the scenario, in its order
  bool was_interrupted = false;
};

/// Runs all of the scenario on the calling thread. A turn whose predecessor wasn't answered is skipped. Failing
/// requests are records, not errors. kUnavailable: the host's name can't be found;
/// kIo: open_client_tls.
Result<LoadResult> run_load(const LoadOptions& options, const Scenario& scenario);

}  // namespace ferrox
