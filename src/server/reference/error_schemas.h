// How are the bodies of refusals described? One for each dialect.
#pragma once

#include "server/json_text.h"

namespace ferrox {

inline constexpr const char* kErrorName = "Error";
inline constexpr const char* kMessageErrorName = "MessageError";

/// Both by their names, with the types and codes of the error table.
Json error_schemas();

}  // namespace ferrox
