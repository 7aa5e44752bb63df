// How is a client told which of its fields had no effect?
#pragma once

#include <string>
#include <vector>

#include "server/http/message.h"

namespace ferrox {

/// The header that names fields without effect, or none. Names come from the client and are made harmless.
void add_ignored_header(const std::vector<std::string>& names, std::vector<HttpHeader>& headers);

/// Letters, digits and `_.-[]` stay, all else becomes '?', and a long list is cut.
std::string header_list(const std::vector<std::string>& names);

}  // namespace ferrox
