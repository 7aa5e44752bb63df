// What can be asked of a server, for readers? The registry of endpoints and their fields as a page of Markdown.
#pragma once

#include <string>

namespace ferrox {

/// docs/API.md.
std::string api_page();

}  // namespace ferrox
