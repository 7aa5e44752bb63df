// How does a command ask a server that runs? One GET, one body.
#pragma once

#include <string>

#include "base/result.h"

namespace ferrox {

/// The body of `path` at `url` ("http://host:port"). `key`: sent as a bearer token when not empty. Errors: a URL that
/// isn't of that form, a host that isn't reached, an answer that isn't 200 (with its body).
Result<std::string> http_get(const std::string& url, const std::string& path, const std::string& key);

}  // namespace ferrox
