#include "telemetry/kv_event.h"

#include <nlohmann/json.hpp>

namespace ferrox {
namespace {

using EventJson = nlohmann::json;

constexpr const char* kMedium = "GPU";

EventJson fields_of(const BlocksStored& stored) {
  EventJson fields = EventJson::array({"BlockStored", stored.hashes});
  fields.push_back(stored.parent ? EventJson(*stored.parent) : EventJson(nullptr));
  fields.push_back(stored.tokens);
  fields.push_back(stored.block_size);
  fields.push_back(nullptr);
  fields.push_back(kMedium);
  fields.push_back(nullptr);
  if (stored.parent || stored.space_key.empty()) return fields;
  EventJson extra_keys = EventJson::array({EventJson::array({stored.space_key})});
  while (extra_keys.size() < stored.hashes.size()) extra_keys.push_back(nullptr);
  fields.push_back(std::move(extra_keys));
  return fields;
}

EventJson fields_of(const BlocksRemoved& removed) {
  return EventJson::array({"BlockRemoved", removed.hashes, kMedium});
}

EventJson fields_of(const AllBlocksCleared&) { return EventJson::array({"AllBlocksCleared"}); }

}  // namespace

size_t size_bytes(const KvEvent& event) {
  constexpr size_t kBooks = 128;
  const auto* const stored = std::get_if<BlocksStored>(&event);
  const auto* const removed = std::get_if<BlocksRemoved>(&event);
  if (stored != nullptr) {
    return kBooks + stored->hashes.size() * sizeof(uint64_t) + stored->tokens.size() * sizeof(int32_t);
  }
  return kBooks + (removed == nullptr ? 0 : removed->hashes.size() * sizeof(uint64_t));
}

std::string encode(const KvEventBatch& batch) {
  EventJson events = EventJson::array();
  for (const KvEvent& event : batch.events) {
    events.push_back(std::visit([](const auto& each) { return fields_of(each); }, event));
  }
  constexpr int kDataParallelRank = 0;
  std::string bytes;
  EventJson::to_msgpack(EventJson::array({batch.time_s, std::move(events), kDataParallelRank}), bytes);
  return bytes;
}

}  // namespace ferrox
