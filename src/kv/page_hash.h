// What names a page of tokens? A hash of it and of all before it, the same in every process.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ferrox {

/// What stands for the page before the first one: XXH64 of the namespace.
uint64_t root_hash(std::string_view space);

/// XXH64 of the tokens as 32-bit little-endian numbers, seeded with the hash of the page before. Not proof against
/// somebody who looks for two texts of one hash: it serves to route requests, never to share pages.
uint64_t page_hash(uint64_t parent, std::span<const int32_t> tokens);

}  // namespace ferrox
