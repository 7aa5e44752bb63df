// What do the endpoints of sessions and slots do alike?
#pragma once

#include <string>
#include <vector>

#include "server/app.h"
#include "server/json_text.h"
#include "server/schema/field_range.h"

namespace ferrox {

/// How long the text of an id may be that is looked at: none is longer.
inline constexpr FieldRange kSessionIdBytes{1, 64};

/// {"id", "object", "tokens", "bytes"}, and "created" where it is known.
Json session_json(const SessionSummary& session);

/// The same of a file in the folder, with its "state"; a damaged one has no "tokens".
Json listed_session_json(const SessionSummary& session);

ApiError session_refusal(const Error& error);

/// The server's sessions. Refused where it has no folder for them.
ApiResult<Sessions*> sessions_of(App& app);

/// Saves, on a thread for files, what the cache holds of the tokens.
awaitable<ApiResult<SessionSummary>> save_session(App& app, std::string space, std::vector<int32_t> tokens);

/// Restores, on a thread for files; not while the server sleeps by order. `id` is the client's text, `field` its name.
awaitable<ApiResult<SessionSummary>> restore_session(App& app, std::string space, std::string field, std::string id);

}  // namespace ferrox
