// How many files and sockets may this process hold open?
#pragma once

#include <cstdint>

namespace ferrox {

/// Raises the soft limit as far as `n_wanted` needs and the system allows. Gives the limit then; `n_wanted` where the
/// system doesn't say.
uint64_t raise_descriptor_limit(uint64_t n_wanted);

}  // namespace ferrox
