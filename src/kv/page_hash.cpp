#include "kv/page_hash.h"

#include <xxhash.h>

#include <bit>

namespace ferrox {

static_assert(std::endian::native == std::endian::little, "tokens are hashed as they lie in memory");

uint64_t root_hash(std::string_view space) { return XXH64(space.data(), space.size(), 0); }

uint64_t page_hash(uint64_t parent, std::span<const int32_t> tokens) {
  return XXH64(tokens.data(), tokens.size_bytes(), parent);
}

}  // namespace ferrox
