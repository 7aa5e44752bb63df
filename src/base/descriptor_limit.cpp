#include "base/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace ferrox {

uint64_t raise_descriptor_limit(uint64_t n_wanted) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return n_wanted;
  if (now.rlim_cur < n_wanted) {
    const rlimit raised{std::min<rlim_t>(n_wanted, now.rlim_max), now.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) now = raised;
  }
  return now.rlim_cur;
}

}  // namespace ferrox
