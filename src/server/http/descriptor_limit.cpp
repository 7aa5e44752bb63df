// How is the descriptor limit raised?
#include "server/http/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace ferrox {

void fit_to_descriptors(HttpLimits& limits) {
  constexpr rlim_t kOthers = 64;  // model files, logs, epoll
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  const auto wanted = static_cast<rlim_t>(limits.max_connections) + kOthers;
  if (now.rlim_cur < wanted) {
    rlimit raised{std::min(wanted, now.rlim_max), now.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) now = raised;
  }
  const rlim_t left = now.rlim_cur > kOthers ? now.rlim_cur - kOthers : 1;
  limits.max_connections = static_cast<int>(std::min(static_cast<rlim_t>(limits.max_connections), left));
}

}  // namespace ferrox
