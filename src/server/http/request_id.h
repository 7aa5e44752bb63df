// What names a request in logs, headers and the cancel route?
#pragma once

#include <string>

namespace ferrox {

/// 24 hexadecimal digits from the system's random source: not guessable, because knowing one allows to cancel.
std::string new_request_id();

}  // namespace ferrox
