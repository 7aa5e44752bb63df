#include "server/session_steps.h"

#include <functional>
#include <utility>

namespace ferrox {
namespace {

std::function<ApiResult<SessionSummary>()> save_job(App& app, std::string space, std::vector<int32_t> tokens) {
  return [&app, space = std::move(space), tokens = std::move(tokens)]() -> ApiResult<SessionSummary> {
    TRY_ASSIGN(Sessions* const sessions, sessions_of(app));
    const Result<SessionSummary> saved = sessions->save(space, tokens);
    if (!saved) return session_refusal(saved.error());
    return *saved;
  };
}

/// Asks once more whether it may: an order to sleep may have come while it waited.
std::function<ApiResult<SessionSummary>()> restore_job(App& app, std::string space, std::string field, std::string id) {
  return [&app, space = std::move(space), field = std::move(field), id = std::move(id)]() -> ApiResult<SessionSummary> {
    if (app.sleep().refuses()) return asleep_refusal();
    TRY_ASSIGN(Sessions* const sessions, sessions_of(app));
    const Result<SessionId> parsed = parse_session_id(id);
    if (!parsed) return invalid_request(field, field + ": " + parsed.error().message);
    const Result<SessionSummary> restored = sessions->restore(*parsed, space);
    if (!restored) return session_refusal(restored.error());
    return *restored;
  };
}

}  // namespace

Json session_json(const SessionSummary& session) {
  Json json = {
      {"id", to_hex(session.id)}, {"object", "session"}, {"tokens", session.n_tokens}, {"bytes", session.size_bytes}};
  if (session.saved_at_s > 0) json["created"] = session.saved_at_s;
  return json;
}

Json listed_session_json(const SessionSummary& session) {
  Json json = session_json(session);
  switch (session.state) {
    case SessionState::kSaved:
      json["state"] = "saved";
      break;
    case SessionState::kOtherModel:
      json["state"] = "other_model";
      break;
    case SessionState::kDamaged:
      json["state"] = "damaged";
      json.erase("tokens");
  }
  return json;
}

ApiError session_refusal(const Error& error) {
  if (error.code == ErrorCode::kCorrupt) return {ErrorKind::kSessionDamaged, error.message};
  constexpr int kRetryAfterS = 1;  // another process saves, or the engine stops
  return engine_error(error, ErrorKind::kSessionsBusy, kRetryAfterS);
}

ApiResult<Sessions*> sessions_of(App& app) {
  Sessions* const sessions = app.engine().sessions();
  if (sessions == nullptr) return unsupported("", "sessions: expected a server with a folder for them (--kv-disk)");
  return sessions;
}

awaitable<ApiResult<SessionSummary>> save_session(App& app, std::string space, std::vector<int32_t> tokens) {
  const Activity activity(app.sleep());
  std::function<ApiResult<SessionSummary>()> job = save_job(app, std::move(space), std::move(tokens));
  co_return co_await app.on_disk(std::move(job));
}

awaitable<ApiResult<SessionSummary>> restore_session(App& app, std::string space, std::string field, std::string id) {
  if (app.sleep().refuses()) co_return asleep_refusal();
  const Activity activity(app.sleep());
  std::function<ApiResult<SessionSummary>()> job = restore_job(app, std::move(space), std::move(field), std::move(id));
  co_return co_await app.on_disk(std::move(job));
}

}  // namespace ferrox
