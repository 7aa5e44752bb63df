// Where do request ids come from?
#include "server/http/request_id.h"

#include <fmt/format.h>

#include <random>

namespace ferrox {

std::string new_request_id() {
  static thread_local std::random_device source;
  return fmt::format("{:08x}{:08x}{:08x}", source(), source(), source());
}

}  // namespace ferrox
