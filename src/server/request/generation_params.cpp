// Which seed has a request that names none?
#include "server/request/generation_params.h"

#include <random>

namespace ferrox {

uint64_t choose_seed(const GenerationParams& params) {
  static thread_local std::random_device source;
  return params.seed ? *params.seed : source();
}

}  // namespace ferrox
