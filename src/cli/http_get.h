// How does a command ask a server that runs? One GET, one body.
#pragma once

#include <string>

#include "base/result.h"
#include "loadgen/client_stream.h"

namespace ferrox {

/// The body of `path` at `url` ("http://host:port" or "https://..."). `key`: sent as a bearer token when not empty.
/// Errors: a URL that isn't of that form, what check_tls_options and open_client_tls refuse, a host that isn't reached
/// or isn't believed, an answer that isn't 200 (with its body).
Result<std::string> http_get(const std::string& url, const std::string& path, const std::string& key,
                             const TlsTrust& trust);

}  // namespace ferrox
