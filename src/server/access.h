// Which headers tell who may call? The key, and for a server without keys the pages a browser may call it from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ferrox {

/// The key of an `Authorization: Bearer` value (scheme in any case), or of `x-api-key`; empty: none.
std::string_view bearer_key(std::string_view authorization);

/// The host of "host", "host:port", "[v6]:port" or "scheme://host:port", without brackets.
std::string_view host_of(std::string_view authority);

bool is_ip_literal(std::string_view host);
/// localhost, *.localhost, 127.0.0.0/8 and ::1.
bool is_loopback(std::string_view host);

/// Against DNS rebinding: a name that a page controls can be made to point here, an address can't. Allowed are
/// addresses, loopback names and `allowed` ("*": all). An absent header (HTTP/1.0) is allowed.
bool is_allowed_host(std::string_view host_header, const std::vector<std::string>& allowed);

/// Against other sites' pages: allowed are no Origin, the server itself (`host_header`), loopback and `allowed`.
bool is_allowed_origin(std::string_view origin, std::string_view host_header, const std::vector<std::string>& allowed);

}  // namespace ferrox
