// With which certificate does the server speak TLS?
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

#include "base/result.h"
#include "server/http/asio.h"

namespace ferrox {

/// For TLS 1.2 and later. `cert_file`: PEM, the server's certificate first, then those that signed it; `key_file`: PEM,
/// not encrypted. kIo: a file can't be read, isn't one of these, or the key isn't the certificate's.
Result<std::unique_ptr<asio::ssl::context>> open_tls(const std::string& cert_file, const std::string& key_file);

}  // namespace ferrox
