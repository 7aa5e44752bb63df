// How is the descriptor limit raised?
#include "server/http/descriptor_limit.h"

#include <algorithm>

#include "base/descriptor_limit.h"

namespace ferrox {

void fit_to_descriptors(HttpLimits& limits) {
  constexpr uint64_t kOthers = 64;  // model files, logs, epoll
  const auto n_wanted = static_cast<uint64_t>(limits.max_connections);
  const uint64_t n_open = raise_descriptor_limit(n_wanted + kOthers);
  const uint64_t left = n_open > kOthers ? n_open - kOthers : 1;
  limits.max_connections = static_cast<int>(std::min(n_wanted, left));
}

}  // namespace ferrox
