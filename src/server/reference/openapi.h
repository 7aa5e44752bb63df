// What can be asked of a server, for programs? The registry of endpoints and their fields as an OpenAPI document.
#pragma once

#include <string>

#include "server/json_text.h"

namespace ferrox {

/// OpenAPI 3.1 of every endpoint; the same for every server, whatever its options are.
Json openapi_document();

/// The same as text, made once.
const std::string& openapi_text();

}  // namespace ferrox
