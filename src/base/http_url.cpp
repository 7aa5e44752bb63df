#include "base/http_url.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace ferrox {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::string_view kTlsScheme = "https://";

bool is_port(std::string_view text) {
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

/// Bytes that would end a line or a word of a request.
bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::string HttpUrl::authority() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

Result<HttpUrl> parse_http_url(std::string_view where, std::string_view text) {
  const auto fault = make_error(ErrorCode::kInvalidArgument,
                                "{}: expected http://host:port or https://host:port, found '{}'", where, text);
  std::string_view rest = text;
  HttpUrl url;
  if (rest.starts_with(kTlsScheme)) {
    rest.remove_prefix(kTlsScheme.size());
    url.is_tls = true;
    url.port = "443";
  } else if (rest.starts_with(kScheme)) {
    rest.remove_prefix(kScheme.size());
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  rest = rest.substr(0, slash);
  const size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos) {
    url.port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!is_port(url.port)) return fault;
  }
  const bool bracketed = rest.starts_with('[') && rest.ends_with(']');
  if (bracketed) rest = rest.substr(1, rest.size() - 2);
  url.host = rest;
  if (url.host.empty() || (!bracketed && url.host.find(':') != std::string::npos)) return fault;
  if (!is_visible(text) || text.find_first_of("?#@") != std::string_view::npos) return fault;
  if (url.host.find_first_of("[]") != std::string::npos || url.path.find("//") != std::string::npos) return fault;
  return url;
}

}  // namespace ferrox
