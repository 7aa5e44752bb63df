// How are keys read, and Host and Origin judged?
#include "server/access.h"

#include <boost/asio/ip/address.hpp>

#include <algorithm>

#include "server/http/message.h"

namespace ferrox {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view host) {
  return std::any_of(names.begin(), names.end(),
                     [host](const std::string& name) { return name == "*" || equal_ignoring_case(name, host); });
}

bool ends_with_ignoring_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && equal_ignoring_case(text.substr(text.size() - end.size()), end);
}

}  // namespace

std::string_view bearer_key(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size() || !equal_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) {
    return {};
  }
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' ', kScheme.size()), authorization.size()));
  return authorization;
}

std::string_view host_of(std::string_view authority) {
  if (const size_t scheme = authority.find("://"); scheme != std::string_view::npos) {
    authority.remove_prefix(scheme + 3);
  }
  if (!authority.empty() && authority.front() == '[') return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

bool is_ip_literal(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

bool is_loopback(std::string_view host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(host), error);
  if (!error) return address.is_loopback();
  return equal_ignoring_case(host, "localhost") || ends_with_ignoring_case(host, ".localhost");
}

bool is_allowed_host(std::string_view host_header, const std::vector<std::string>& allowed) {
  const std::string_view host = host_of(host_header);
  return host.empty() || is_ip_literal(host) || is_loopback(host) || contains(allowed, host);
}

bool is_allowed_origin(std::string_view origin, std::string_view host_header, const std::vector<std::string>& allowed) {
  if (origin.empty()) return true;
  if (origin.find("://") == std::string_view::npos) return contains(allowed, origin);  // "null": a sandboxed page
  const std::string_view authority = origin.substr(origin.find("://") + 3);
  const std::string_view host = host_of(origin);
  return equal_ignoring_case(authority, host_header) || is_loopback(host) || contains(allowed, host);
}

}  // namespace ferrox
