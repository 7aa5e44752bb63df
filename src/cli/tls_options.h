// Whom does a command believe that asks a server over https?
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/http_url.h"
#include "base/result.h"
#include "loadgen/client_stream.h"

namespace ferrox {

/// Declares --cacert and --insecure; `trust` outlives `app`.
void add_tls_options(CLI::App& app, TlsTrust& trust, const std::string& group);

/// kInvalidArgument: both, or one of them where nothing is proved.
Result<void> check_tls_options(const TlsTrust& trust, const HttpUrl& url);

}  // namespace ferrox
