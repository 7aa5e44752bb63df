#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ferrox {

void check_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, why);
  std::abort();
}

}  // namespace ferrox
