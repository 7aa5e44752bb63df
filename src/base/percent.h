// How is %XX read, in paths, queries and lists of headers?
#pragma once

#include <string>
#include <string_view>

namespace ferrox {

/// Decodes %XX. A malformed escape stays as it is.
std::string percent_decode(std::string_view text);

}  // namespace ferrox
