// Which endpoint answers a method and a path?
#pragma once

#include <string>
#include <string_view>

#include "server/endpoint.h"

namespace ferrox {

struct Route {
  const Endpoint* endpoint = nullptr;  ///< null: none
  std::string parameter;               ///< what stood for {..}
  std::string allowed_methods;         ///< of this path, comma-separated; empty: no such path
};

/// Literal paths win over those with a parameter. `endpoints` ends with nullptr.
Route find_route(const Endpoint* const* endpoints, std::string_view method, std::string_view path);

}  // namespace ferrox
