// How is a metadata value shown? As one line for a person, as JSON for a program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gguf/metadata.h"

namespace ferrox {

/// One printable line: control characters and broken UTF-8 of hostile files never reach the terminal; long strings and
/// arrays are cut and say how long they are.
std::string metadata_line(const MetaValue& value);

/// `text` with everything that isn't printable UTF-8 escaped, cut after `most_bytes`.
std::string printable(std::string_view text, size_t most_bytes);

/// Arrays of more than `most_elements` become {"count": N, "first": [...]}.
nlohmann::ordered_json metadata_json(const MetaValue& value, size_t most_elements);

}  // namespace ferrox
