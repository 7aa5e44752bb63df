#include "tier/prefix_tiers.h"

#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "tier/disk_tier.h"
#include "tier/host_tier.h"

namespace ferrox {
namespace {

double system_clock_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class Part>
void check_parts(const TierLayout& layout, std::span<const Part> parts) {
  for (const Part& part : parts) {
    CHECK(part.part >= 0 && part.part < layout.n_parts(), "parts are the layout's");
    uint64_t bytes = 0;
    for (const auto piece : part.pieces) bytes += piece.size();
    CHECK(bytes == layout.part_bytes[static_cast<size_t>(part.part)], "pieces make up a part");
  }
}

void scatter(std::span<const std::byte> from, std::span<const std::span<std::byte>> pieces) {
  for (const auto piece : pieces) {
    if (!piece.empty()) std::memcpy(piece.data(), from.data(), piece.size());
    from = from.subspan(piece.size());
  }
}

}  // namespace

struct PrefixTiers::State {
  State(const TierLayout& tier_layout, const TierOptions& options)
      : layout(tier_layout),
        clock_s(options.clock_s ? options.clock_s : system_clock_s),
        staging_bytes(options.staging_bytes),
        host(tier_layout, options.host_bytes, options.half_life_s) {}

  PartMask parts_of(const PageKey& key) const { return host.parts_of(key) | (disk ? disk->parts_of(key) : 0); }

  PartMask use(const PageKey& key, double now_s) { return host.use(key, now_s) | (disk ? disk->use(key, now_s) : 0); }

  std::shared_ptr<const TierEntry> copy(const EntryName& name, std::span<const PartSource> parts) const {
    try {
      return std::make_shared<const TierEntry>(layout, name, parts);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  /// What memory doesn't hold comes from the disk.
  LoadOutcome load(const LoadRequest& request) {
    const auto entry = host.get(request.key);
    std::vector<PartTarget> on_disk;
    for (const PartTarget& target : request.parts) {
      const bool in_memory = entry != nullptr && (entry->parts() >> target.part & 1) != 0;
      if (!in_memory) on_disk.push_back(target);
    }
    if (!on_disk.empty()) {
      if (!disk) return LoadOutcome::kAbsent;
      const DiskRead read = disk->read(request.key, on_disk);
      if (read != DiskRead::kGood) return read == DiskRead::kAbsent ? LoadOutcome::kAbsent : LoadOutcome::kDamaged;
    }
    if (on_disk.size() == request.parts.size()) return LoadOutcome::kGood;
    PartMask copied = 0;
    for (const PartTarget& target : request.parts) {
      if ((entry->parts() >> target.part & 1) == 0) continue;
      scatter(entry->part(layout, target.part), target.pieces);
      copied |= PartMask{1} << target.part;
    }
    host.count_load(bytes_of_parts(layout, copied));
    return LoadOutcome::kGood;
  }

  const TierLayout layout;
  const std::function<double()> clock_s;
  const uint64_t staging_bytes;
  HostTier host;
  std::unique_ptr<DiskTier> disk;
};

PrefixTiers::PrefixTiers(std::unique_ptr<State> state) : state_(std::move(state)) {}
PrefixTiers::~PrefixTiers() = default;

Result<std::unique_ptr<PrefixTiers>> PrefixTiers::open(const TierLayout& layout, const TierOptions& options) {
  TRY(validate_tier_layout(layout));
  CHECK(options.half_life_s > 0, "a half-life is a time");
  auto state = std::make_unique<State>(layout, options);
  if (!options.disk_folder.empty() && options.disk_bytes > 0) {
    TRY_ASSIGN(state->disk, DiskTier::open(layout, {.folder = options.disk_folder,
                                                    .budget_bytes = options.disk_bytes,
                                                    .staging_bytes = options.staging_bytes,
                                                    .half_life_s = options.half_life_s}));
  }
  return std::unique_ptr<PrefixTiers>(new PrefixTiers(std::move(state)));
}

const TierLayout& PrefixTiers::layout() const { return state_->layout; }

bool PrefixTiers::stores_anything() const { return state_->disk != nullptr || state_->host.stats().budget_bytes > 0; }

PutOutcome PrefixTiers::put(const EntryName& name, std::span<const PartSource> parts) {
  check_parts(state_->layout, parts);
  const PartMask mask = mask_of(parts);
  CHECK(mask != 0, "an entry has parts");
  const double now_s = state_->clock_s();
  const bool to_host = state_->host.reserve(name, mask);
  const auto on_disk = state_->disk ? state_->disk->reserve(name, mask, now_s) : DiskTier::Reserved::kNoRoom;
  const bool to_disk = on_disk == DiskTier::Reserved::kYes;
  if (!to_host && !to_disk) {
    const bool is_held = on_disk == DiskTier::Reserved::kHeld || !has_more_parts(mask, state_->host.parts_of(name.key));
    return is_held ? PutOutcome::kHeld : PutOutcome::kDropped;
  }
  const auto entry = state_->copy(name, parts);
  if (to_disk) state_->disk->stage(name, mask, entry, now_s);
  if (to_host) state_->host.commit(name, mask, entry, now_s);
  return entry == nullptr ? PutOutcome::kDropped : PutOutcome::kStored;
}

std::vector<PartMask> PrefixTiers::peek(std::span<const PageKey> keys) const {
  std::vector<PartMask> out;
  for (const PageKey& key : keys) {
    const PartMask parts = state_->parts_of(key);
    if (parts == 0) break;
    out.push_back(parts);
  }
  return out;
}

std::vector<PartMask> PrefixTiers::find(std::span<const PageKey> keys) {
  const double now_s = state_->clock_s();
  std::vector<PartMask> out;
  for (const PageKey& key : keys) {
    const PartMask parts = state_->use(key, now_s);
    if (parts == 0) break;
    out.push_back(parts);
  }
  return out;
}

std::optional<StateMatch> PrefixTiers::find_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                                  int64_t max_tokens) {
  auto best = state_->host.longest_state(keys, tokens, max_tokens);
  if (state_->disk) {
    const auto other = state_->disk->longest_state(keys, tokens, max_tokens);
    if (other && (!best || other->n_tokens > best->n_tokens)) best = other;
  }
  if (best) state_->use(best->key, state_->clock_s());
  return best;
}

void PrefixTiers::load(std::span<LoadRequest> requests, ThreadPool& pool) {
  for (const LoadRequest& request : requests) check_parts(state_->layout, request.parts);
  pool.run(static_cast<int64_t>(requests.size()), [&](int64_t i, int) {
    LoadRequest& request = requests[static_cast<size_t>(i)];
    request.outcome = state_->load(request);
  });
}

uint64_t PrefixTiers::staging_room() const { return state_->disk ? state_->disk->staging_room() : 0; }

void PrefixTiers::flush() {
  if (state_->disk) state_->disk->flush();
}

bool PrefixTiers::flush_until(TimePoint deadline) { return !state_->disk || state_->disk->flush_until(deadline); }

size_t PrefixTiers::finish(TimePoint deadline) { return state_->disk ? state_->disk->finish(deadline) : 0; }

void PrefixTiers::clear_memory() { state_->host.clear(); }

void PrefixTiers::clear() {
  state_->host.clear();
  if (state_->disk) state_->disk->clear();
}

void PrefixTiers::set_disk_budget(uint64_t disk_bytes) {
  if (state_->disk) state_->disk->set_budget(disk_bytes);
}

PrefixTierStats PrefixTiers::stats() const {
  PrefixTierStats out;
  out.host = state_->host.stats();
  if (!state_->disk) return out;
  out.disk = state_->disk->stats();
  out.staged_bytes = state_->disk->staged_bytes();
  out.staging_budget_bytes = state_->staging_bytes;
  out.writes_disk = state_->disk->is_writer();
  return out;
}

void PrefixTiers::check_integrity() const {
  state_->host.check_integrity();
  if (state_->disk) state_->disk->check_integrity();
}

}  // namespace ferrox
