#include "base/memory_lock.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "base/units.h"

namespace ferrox {
namespace {

std::string lock_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return format_bytes(limit.rlim_cur);
}

}  // namespace

Result<void> lock_in_memory(std::span<const std::byte> bytes) {
  if (bytes.empty() || mlock(bytes.data(), bytes.size()) == 0) return {};
  return make_error(ErrorCode::kMemoryBudget, "can't lock {} in memory: {}; the limit (ulimit -l) is {}",
                    format_bytes(bytes.size()), std::strerror(errno), lock_limit());
}

}  // namespace ferrox
