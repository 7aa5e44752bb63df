// How is JSON Schema said in a few words? "integer from 1 to 128", "text or up to 16 texts of 1 to 1024".
#pragma once

#include <string>

#include "server/json_text.h"

namespace ferrox {

/// Of the schemas that field tables have.
std::string shape_text(const Json& schema);

}  // namespace ferrox
