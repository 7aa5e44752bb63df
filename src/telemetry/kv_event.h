// What changed in a prefix cache, and how is it told? As vLLM does, so that its routers understand it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ferrox {

/// Whole pages are there that follow one another.
struct BlocksStored {
  std::vector<uint64_t> hashes;
  std::optional<uint64_t> parent;  ///< absent: they begin a prompt
  std::vector<int32_t> tokens;     ///< of all of them
  int32_t block_size;              ///< positions of a page
  std::string space_key;           ///< what tells a private namespace from others; empty: the shared one
};

struct BlocksRemoved {
  std::vector<uint64_t> hashes;
};

struct AllBlocksCleared {};

using KvEvent = std::variant<BlocksStored, BlocksRemoved, AllBlocksCleared>;

/// Events of one message.
struct KvEventBatch {
  uint64_t sequence;  ///< one more than the last message's; a gap: some were dropped
  double time_s;      ///< since 1970, when the first of them happened
  std::vector<KvEvent> events;
};

/// What it takes of memory, about.
size_t size_bytes(const KvEvent& event);

/// MessagePack: [time, [event..], 0], an event as an array that begins with its name:
///   ["BlockStored", hashes, parent or nil, tokens, block size, nil, "GPU", nil, extra keys]
///   ["BlockRemoved", hashes, "GPU"]
///   ["AllBlocksCleared"]
/// The nils are LoRA's; "GPU" is what the schema calls the memory that the model computes in. Extra keys, one entry for
/// each page, are there where a private namespace begins: [[space key], nil..].
std::string encode(const KvEventBatch& batch);

}  // namespace ferrox
