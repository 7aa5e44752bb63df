#include "server/endpoint.h"

namespace ferrox {

ErrorSet errors_of(const Endpoint& endpoint) {
  ErrorSet errors = kTransportErrors | endpoint.refusals;
  if (endpoint.access != Access::kPublic) errors = errors | ErrorSet{ErrorKind::kInvalidApiKey};
  if (endpoint.is_metered) errors = errors | ErrorSet{ErrorKind::kRateLimited, ErrorKind::kClientClosed};
  return errors;
}

const char* access_name(Access access) {
  switch (access) {
    case Access::kPublic:
      return "public";
    case Access::kKey:
      return "key";
    case Access::kAdmin:
      break;
  }
  return "admin";
}

std::string logged_path(std::string_view path) {
  constexpr size_t kLetters = 8;  // enough to find it again in a log, far too few to guess the rest
  for (const Endpoint* const* endpoint = all_endpoint; *endpoint != nullptr; ++endpoint) {
    if (!(*endpoint)->opens_by_path) continue;
    const std::string_view known = (*endpoint)->path;
    const std::string_view before = known.substr(0, known.find('{'));
    if (path.starts_with(before) && path.size() > before.size() + kLetters) {
      return std::string(path.substr(0, before.size() + kLetters)).append("...");
    }
  }
  return std::string(path);
}

}  // namespace ferrox
