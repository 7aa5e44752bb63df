// Which server does an http:// or https:// URL name?
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ferrox {

struct HttpUrl {
  std::string host;         ///< a name or an address, IPv6 without its brackets
  std::string port = "80";  ///< digits; "443" where https names none
  std::string path;         ///< "" or "/...", without a slash at its end
  bool is_tls = false;      ///< https

  /// "host:port" for the header Host; an IPv6 address in brackets.
  std::string authority() const;
};

/// "http://host:port/path" or "https://...", where "http://", port and path may be absent. kInvalidArgument, naming
/// `where` (the flag): another scheme, no host, a user, a query, a port that isn't 1 to 65535, bytes that no URL has.
Result<HttpUrl> parse_http_url(std::string_view where, std::string_view text);

}  // namespace ferrox
