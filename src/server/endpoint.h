// What is one endpoint? A method, a path and a handler; one constant in src/server/endpoints/<name>.cpp.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "server/error_kind.h"
#include "server/http/asio.h"
#include "server/schema/description.h"

namespace ferrox {

class App;
class Exchange;

enum class Access {
  kPublic,  ///< health checks: no key asked for
  kKey,     ///< a key, where keys are configured
  kAdmin,   ///< there, an admin's key: what concerns other callers
};

enum class AnswerKind {
  kJson,
  kJsonOrEvents,  ///< server-sent events, where the body asks for a stream
  kEvents,        ///< server-sent events
  kText,
};

struct Endpoint {
  const char* method;  ///< "GET" also serves HEAD
  const char* path;    ///< a last segment in braces, as in "/v1/models/{id}", takes the rest of the path
  Access access;
  const char* summary;  ///< one line for listings and documentation
  awaitable<void> (*handle)(App& app, Exchange& exchange);
  const char* detail = "";                             ///< what else documentation says: whole sentences
  std::vector<BodyDescription> (*bodies)() = nullptr;  ///< a body is one of these; nullptr: none is read
  std::vector<FieldDescription> (*query)() = nullptr;  ///< nullptr: none is read
  AnswerKind answer = AnswerKind::kJson;
  ErrorSet refusals = {};   ///< beside kTransportErrors, and what access and quotas refuse
  bool is_metered = false;  ///< it makes tokens of what it reads: a key beyond its quota is refused before the body is
                            ///< read, and what waits for a worker isn't done when its client leaves
  bool runs_model = false;  ///< it answers: refused while nothing is admitted, and a stream of it is taken up by the
                            ///< header Last-Event-ID
  size_t most_body_bytes = std::numeric_limits<size_t>::max();  ///< beside the transport's limit
  bool opens_by_path = false;       ///< whoever knows what stands in the braces may have it: logs show its beginning
  bool is_probe = false;            ///< programs ask it again and again: its good answers are logged as details
  const char* operation = nullptr;  ///< of a model, as OpenTelemetry names it: "chat", "text_completion"
};

/// Of a body that is a few short fields: it is parsed where everybody waits.
inline constexpr size_t kSmallBodyBytes = 16 * 1024;

/// "public", "key" or "admin".
const char* access_name(Access access);

/// A request's path as logs show it: of an id that opens something no more than its first eight letters.
std::string logged_path(std::string_view path);

/// All that a request to it may be refused with.
ErrorSet errors_of(const Endpoint& endpoint);

/// Every endpoint, in name order, ended by nullptr.
extern const Endpoint* const all_endpoint[];

}  // namespace ferrox
