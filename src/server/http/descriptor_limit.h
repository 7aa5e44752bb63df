// How many connections can this process hold?
#pragma once

#include "server/http/limits.h"

namespace ferrox {

/// Raises the process's soft limit of file descriptors as far as max_connections needs and the system allows, and
/// lowers max_connections to what is left: connections beyond wait in the listen queue instead of failing.
void fit_to_descriptors(HttpLimits& limits);

}  // namespace ferrox
