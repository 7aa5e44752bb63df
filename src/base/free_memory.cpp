#include "base/free_memory.h"

#include <cstdlib>  // says whose library this is

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ferrox {

void give_free_memory_back() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace ferrox
