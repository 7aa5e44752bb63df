// What is one endpoint? A method, a path and a handler; one constant in src/server/endpoints/<name>.cpp.
#pragma once

#include "server/http/asio.h"

namespace ferrox {

class App;
class Exchange;

enum class Access {
  kPublic,  ///< health checks: no key asked for
  kKey,     ///< a key, where keys are configured
  kAdmin,   ///< there, an admin's key: what concerns other callers
};

struct Endpoint {
  const char* method;  ///< "GET" also serves HEAD
  const char* path;    ///< a last segment in braces, as in "/v1/models/{id}", takes the rest of the path
  Access access;
  const char* summary;  ///< one line for listings and documentation
  awaitable<void> (*handle)(App& app, Exchange& exchange);
  bool is_metered = false;          ///< a key beyond its quota is refused before the body is read
  bool is_probe = false;            ///< programs ask it again and again: its good answers are logged as details
  const char* operation = nullptr;  ///< of a model, as OpenTelemetry names it: "chat", "text_completion"
};

/// Every endpoint, in name order, ended by nullptr.
extern const Endpoint* const all_endpoint[];

}  // namespace ferrox
