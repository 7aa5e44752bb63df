// How are paths compared?
#include "server/router.h"

namespace ferrox {
namespace {

enum class Match { kNone, kParameter, kLiteral };

Match match_path(std::string_view pattern, std::string_view path) {
  if (pattern == path) return Match::kLiteral;
  const size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) return Match::kNone;
  return path.size() > brace && path.substr(0, brace) == pattern.substr(0, brace) ? Match::kParameter : Match::kNone;
}

bool serves_method(const Endpoint& endpoint, std::string_view method) {
  return method == endpoint.method || (method == "HEAD" && std::string_view(endpoint.method) == "GET");
}

void allow(const Endpoint& endpoint, std::string& methods) {
  if (!methods.empty()) methods += ", ";
  methods += endpoint.method;
}

}  // namespace

Route find_route(const Endpoint* const* endpoints, std::string_view method, std::string_view path) {
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  Route route;
  Match best = Match::kNone;
  for (; *endpoints != nullptr; ++endpoints) {
    const Endpoint& endpoint = **endpoints;
    const Match match = match_path(endpoint.path, path);
    if (match == Match::kNone) continue;
    allow(endpoint, route.allowed_methods);
    if (match <= best || !serves_method(endpoint, method)) continue;
    best = match;
    route.endpoint = &endpoint;
    route.parameter = match == Match::kLiteral ? "" : path.substr(std::string_view(endpoint.path).find('{'));
  }
  return route;
}

}  // namespace ferrox
