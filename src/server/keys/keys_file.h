// How are keys written in a file? {"keys": [{"name", "sha256", "weight", "max_requests", "tokens_per_minute",
// "priority", "admin"}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/keys/api_key.h"

namespace ferrox {

/// The entries of a file's text; `file` names it in errors. All members but name and sha256 may be absent. kCorrupt: no
/// JSON, no or unknown members, a value out of its range, the same name or hash twice.
Result<std::vector<ApiKey>> parse_keys_file(std::string_view text, std::string_view file);

/// {"name", "sha256"}, as text: an entry of the file for a new key. kInvalidArgument: a name that none may have.
Result<std::string> new_key_entry(const std::string& name, std::string_view key);

}  // namespace ferrox
