// How do keys become namespaces and callers?
#include "server/caller.h"

#include <fmt/format.h>

namespace ferrox {

std::string cache_space(App& app, const HttpRequest& request, std::string_view salt) {
  // A salt begins with a line end, so that it is no key's even for prefixes on disk from when there were several.
  const bool is_shared = app.keys().size() < 2 || request.caller == nullptr;
  std::string space = is_shared ? "" : request.caller->name;
  if (is_shared && salt.empty()) return space;
  space += '\n';  // no name holds one
  return space.append(salt);
}

bool is_callers_space(App& app, const HttpRequest& request, const std::string& space) {
  return space.starts_with(cache_space(app, request, ""));
}

ApiResult<void> check_rights(const ApiKey* key, const GenerationRequest& request) {
  if (key == nullptr || request.priority >= key->priority) return {};
  return forbidden(fmt::format("priority: expected a number from {} to {} with the key of '{}', found {}",
                               key->priority, kLastPriority, key->name, request.priority));
}

ApiResult<void> sign(App& app, const HttpRequest& request, GenerationRequest& generation) {
  TRY(check_rights(request.caller, generation));
  generation.cache_space = cache_space(app, request, generation.cache_space);
  if (request.caller != nullptr) generation.caller = {request.caller->name, request.caller->weight};
  return {};
}

}  // namespace ferrox
