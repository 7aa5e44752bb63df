// What is one endpoint? A method, a path and a handler; one constant in src/server/endpoints/<name>.cpp.
#pragma once

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
  bool is_metered = false;  ///< it answers: a key beyond its quota is refused before the body is read, and a stream of
                            ///< it is taken up by the header Last-Event-ID
  bool is_probe = false;    ///< programs ask it again and again: its good answers are logged as details
  const char* operation = nullptr;  ///< of a model, as OpenTelemetry names it: "chat", "text_completion"
};

/// All that a request to it may be refused with.
ErrorSet errors_of(const Endpoint& endpoint);

/// Every endpoint, in name order, ended by nullptr.
extern const Endpoint* const all_endpoint[];

}  // namespace ferrox
