// How is a number of bytes shown to a person?
#pragma once

#include <cstdint>
#include <string>

namespace ferrox {

/// "812 B", "1.50 KiB", "3.21 GiB": three significant digits, binary units.
std::string format_bytes(uint64_t size_bytes);

}  // namespace ferrox
