// What belongs to whoever sends a request? The namespace of its cached prefixes, its share, and what its key may ask
// for.
#pragma once

#include <string>
#include <string_view>

#include "server/app.h"
#include "server/http/message.h"

namespace ferrox {

/// The namespace of a caller's cached prefixes: its salt, and its key's name where there are several keys, so that
/// nobody can find out by timing what others asked.
std::string cache_space(App& app, const HttpRequest& request, std::string_view salt);

/// Whether prefixes of a namespace are of this caller's key, whatever the salt.
bool is_callers_space(App& app, const HttpRequest& request, const std::string& space);

/// Whether a key may ask for a request as it is; without keys (nullptr) everyone may. 403: its priority.
ApiResult<void> check_rights(const ApiKey* key, const GenerationRequest& request);

/// Says in `generation`, whose cache_space is a salt, whose it is. Refused as by check_rights.
ApiResult<void> sign(App& app, const HttpRequest& request, GenerationRequest& generation);

}  // namespace ferrox
