#include "engine/prefix_archive.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "kv/kv_layout.h"

namespace ferrox {
namespace {

/// Prefixes that wait to be copied: more than requests that end within a second.
constexpr size_t kMostWaiting = 64;
/// States of one prompt that are looked at before it is computed instead.
constexpr int kMostStates = 8;
/// While a disk is waited for: less than anybody takes for a thread that hangs.
constexpr std::chrono::milliseconds kLongestSilence{100};

bool has_part(PartMask parts, size_t part) { return (parts >> part & 1) != 0; }

/// The tokens past the last whole page.
std::span<const int32_t> past_pages(std::span<const int32_t> tokens, int32_t page_rows) {
  return tokens.last(tokens.size() % static_cast<size_t>(page_rows));
}

/// Bytes of one page of each full kind.
uint64_t full_page_bytes(const KvTerms& terms) {
  uint64_t bytes = 0;
  for (size_t kind = 0; kind < terms.n_attention_kinds(); ++kind) {
    if (terms.windows[kind] == 0) bytes += terms.page_bytes[kind];
  }
  return bytes;
}

}  // namespace

TierLayout tier_layout(const KvTerms& terms, const PageKey& model) {
  return {model, terms.page_rows, terms.page_bytes};
}

PrefixArchive::PrefixArchive(PrefixCache& cache, std::unique_ptr<PrefixTiers> tiers, uint64_t slice_bytes)
    : cache_(cache),
      tiers_(std::move(tiers)),
      slice_bytes_(slice_bytes),
      has_disk_(tiers_->stats().disk.budget_bytes > 0) {
  CHECK(tiers_->layout() == tier_layout(cache_.terms(), tiers_->layout().model), "tiers hold what the store has");
}

PageKey PrefixArchive::root_of(std::string_view space) const {
  return root_key(std::as_bytes(std::span(tiers_->layout().model.bytes)), std::as_bytes(std::span(space)));
}

std::span<const int32_t> PrefixArchive::page_of(std::span<const int32_t> tokens, int64_t i) const {
  const auto n_rows = static_cast<size_t>(cache_.terms().page_rows);
  return tokens.subspan(static_cast<size_t>(i) * n_rows, n_rows);
}

/// The root's, and that of each whole page.
std::vector<PageKey> PrefixArchive::keys_of(std::string_view space, std::span<const int32_t> tokens) const {
  std::vector<PageKey> keys = {root_of(space)};
  const auto n_whole = static_cast<int64_t>(tokens.size()) / cache_.terms().page_rows;
  for (int64_t i = 0; i < n_whole; ++i) keys.push_back(next_key(keys.back(), page_of(tokens, i)));
  return keys;
}

// ---- to the tiers

void PrefixArchive::keep(std::string_view space, std::span<const int32_t> tokens) {
  waiting_.push_back({std::string(space), {tokens.begin(), tokens.end()}, {root_of(space)}});
  if (waiting_.size() > kMostWaiting) waiting_.pop_front();
}

/// Not while copies that wait to be written leave no room for more.
bool PrefixArchive::has_work() const {
  if (waiting_.empty()) return false;
  const std::vector<uint64_t>& bytes = cache_.terms().page_bytes;
  const bool is_full = has_disk_ && tiers_->staging_room() < 2 * *std::ranges::max_element(bytes);
  return !is_full || !tiers_->stats().writes_disk;  // a folder that another process writes is asked for by trying
}

void PrefixArchive::work() {
  Waiting& prefix = waiting_.front();
  const KeptPrefix kept = cache_.tree().kept(prefix.space, prefix.tokens);
  uint64_t n_bytes = 0;
  const auto n_whole = static_cast<size_t>(kept.n_tokens / cache_.terms().page_rows);
  bool is_dropped = false;
  while (!is_dropped && prefix.keys.size() <= n_whole) {
    if (n_bytes >= slice_bytes_) return;
    is_dropped = !copy_page(prefix, kept, n_bytes);
  }
  for (const StateSnapshot& state : kept.states) {
    if (is_dropped) break;
    if (n_bytes >= slice_bytes_) return;
    is_dropped = !copy_state(prefix, kept, state, n_bytes);
  }
  waiting_.pop_front();
}

void PrefixArchive::forget() {
  waiting_.clear();
  tiers_->clear();
}

void PrefixArchive::copy_all(std::chrono::seconds limit) { copy_until(PrefixTiers::TimePoint::clock::now() + limit); }

void PrefixArchive::copy_until(PrefixTiers::TimePoint deadline) {
  for (;;) {
    const auto now = PrefixTiers::TimePoint::clock::now();
    if (waiting_.empty() || now >= deadline) return;
    progress_();
    if (has_work() || tiers_->flush_until(std::min<PrefixTiers::TimePoint>(deadline, now + kLongestSilence))) work();
  }
}

void PrefixArchive::finish(std::chrono::seconds limit) {
  const auto deadline = PrefixTiers::TimePoint::clock::now() + limit;
  copy_until(deadline);
  const size_t n_prefixes = waiting_.size();
  waiting_.clear();
  const size_t n_entries = tiers_->finish(deadline);
  if (n_prefixes + n_entries == 0) return;
  log().warn("prefix cache: {} entries and {} prompts weren't written within {} s: dropped", n_entries, n_prefixes,
             limit.count());
}

/// The next page of a prefix; false when there was no room for it.
bool PrefixArchive::copy_page(Waiting& prefix, const KeptPrefix& kept, uint64_t& n_bytes) {
  const auto i = static_cast<int64_t>(prefix.keys.size()) - 1;
  const std::span<const int32_t> tokens = page_of(prefix.tokens, i);
  const PageKey parent = prefix.keys.back();
  prefix.keys.push_back(next_key(parent, tokens));
  std::vector<std::pair<int, int32_t>> parts;
  for (size_t kind = 0; kind < kept.pages.size(); ++kind) {
    const int32_t page = kept.pages[kind][static_cast<size_t>(i)];
    if (page != kNoPage) parts.emplace_back(static_cast<int>(kind), page);
  }
  if (parts.empty()) return true;
  const int64_t n_before = i * cache_.terms().page_rows;
  return put({EntryKind::kPage, prefix.keys.back(), parent, tokens, n_before}, parts, n_bytes);
}

/// A state inside a page brings the rows of that page before it along.
bool PrefixArchive::copy_state(const Waiting& prefix, const KeptPrefix& kept, const StateSnapshot& state,
                               uint64_t& n_bytes) {
  const int32_t page_rows = cache_.terms().page_rows;
  const int64_t i = state.position / page_rows;
  const std::span<const int32_t> tokens =
      past_pages(std::span(prefix.tokens).first(static_cast<size_t>(state.position)), page_rows);
  std::vector<std::pair<int, int32_t>> parts;
  for (size_t kind = 0; kind < kept.pages.size() && !tokens.empty(); ++kind) {
    const int32_t page = kept.pages[kind][static_cast<size_t>(i)];
    if (page != kNoPage) parts.emplace_back(static_cast<int>(kind), page);
  }
  parts.emplace_back(static_cast<int>(kept.pages.size()), state.page);
  const PageKey& parent = prefix.keys[static_cast<size_t>(i)];
  return put({EntryKind::kState, state_key(parent, tokens), parent, tokens, i * page_rows}, parts, n_bytes);
}

bool PrefixArchive::put(const EntryName& name, std::span<const std::pair<int, int32_t>> parts, uint64_t& n_bytes) {
  std::vector<std::vector<std::span<const std::byte>>> pieces;
  std::vector<PartSource> sources;
  uint64_t size_bytes = 0;
  for (const auto& [kind, page] : parts) {
    const auto writable = cache_.store().pieces(kind, page);
    pieces.emplace_back(writable.begin(), writable.end());
    size_bytes += cache_.terms().page_bytes[static_cast<size_t>(kind)];
  }
  for (size_t i = 0; i < parts.size(); ++i) sources.push_back({parts[i].first, pieces[i]});
  const PutOutcome outcome = tiers_->put(name, sources);
  progress_();
  if (outcome == PutOutcome::kStored) n_bytes += size_bytes;
  return outcome != PutOutcome::kDropped;
}

// ---- from the tiers

PrefixArchive::Restored PrefixArchive::restore(std::string_view space, std::span<const int32_t> prompt,
                                               ThreadPool& threads) {
  const KvTerms& terms = cache_.terms();
  const auto most = prompt.first(prompt.size() - 1);
  const int64_t n_usable = cache_.match(space, prompt).n_usable;
  if (n_usable == static_cast<int64_t>(most.size())) return Restored::kAll;
  const std::vector<PageKey> keys = keys_of(space, most);
  const int64_t n = terms.has_state() ? restorable_state(space, most, keys) : restorable_pages(space, most, keys);
  if (n <= n_usable) return Restored::kAll;
  const auto tokens = most.first(static_cast<size_t>(n));
  const auto gaps = prefix_gaps(cache_, space, tokens, PrefixExtent::kFullKinds);
  if (!gaps.empty()) {
    const auto n_pages = std::max<int64_t>(1, static_cast<int64_t>(slice_bytes_ / full_page_bytes(terms)));
    const int64_t n_slice = (gaps.front().page + n_pages) * terms.page_rows;
    if (n_slice < n) {
      const auto slice = tokens.first(static_cast<size_t>(n_slice));
      const Brought brought = bring(space, slice, keys, PrefixExtent::kFullKinds, threads);
      if (brought == Brought::kAll) return Restored::kPart;
      return brought == Brought::kLost ? Restored::kLost : Restored::kAll;
    }
  }
  const Brought brought = bring(space, tokens, keys, PrefixExtent::kAll, threads);
  return brought == Brought::kLost ? Restored::kLost : Restored::kAll;
}

PartMask PrefixArchive::parts_of(const PageKey& key) const {
  const std::vector<PartMask> found = tiers_->peek(std::span(&key, 1));
  return found.empty() ? 0 : found.front();
}

/// As many whole pages as tree and tiers have between them, and window rows before their end.
int64_t PrefixArchive::restorable_pages(std::string_view space, std::span<const int32_t> tokens,
                                        std::span<const PageKey> keys) const {
  const KvTerms& terms = cache_.terms();
  const KeptPrefix kept = cache_.tree().kept(space, tokens);
  std::vector<PartMask> parts;
  for (size_t i = 0; i + 1 < keys.size(); ++i) {
    PartMask mask = parts_of(keys[i + 1]);
    const bool is_whole = static_cast<int64_t>(i + 1) * terms.page_rows <= kept.n_tokens;
    for (size_t kind = 0; is_whole && kind < kept.pages.size(); ++kind) {
      if (kept.pages[kind][i] != kNoPage) mask |= PartMask{1} << kind;
    }
    parts.push_back(mask);
  }
  auto n = static_cast<int64_t>(parts.size());
  for (size_t kind = 0; kind < terms.n_attention_kinds(); ++kind) {
    if (terms.windows[kind] != 0) continue;
    for (int64_t i = 0; i < n; ++i) {
      if (!has_part(parts[static_cast<size_t>(i)], kind)) n = i;
    }
  }
  for (int64_t before = -1; before != n;) {
    before = n;
    for (size_t kind = 0; kind < terms.n_attention_kinds(); ++kind) {
      const int64_t first = terms.windows[kind] == 0 ? n : first_page_read(terms, kind, n * terms.page_rows);
      for (int64_t i = n - 1; i >= first; --i) {
        if (has_part(parts[static_cast<size_t>(i)], kind)) continue;
        n = i;
        break;
      }
    }
  }
  return n * terms.page_rows;
}

/// The longest start of the tokens with a state and all that goes with it.
int64_t PrefixArchive::restorable_state(std::string_view space, std::span<const int32_t> tokens,
                                        std::span<const PageKey> keys) {
  auto most = static_cast<int64_t>(tokens.size());
  for (int i = 0; i < kMostStates; ++i) {
    const std::optional<StateMatch> state = tiers_->find_state(keys, tokens, most);
    if (!state || state->n_tokens == 0) return 0;
    const auto start = tokens.first(static_cast<size_t>(state->n_tokens));
    const auto gaps = prefix_gaps(cache_, space, start, PrefixExtent::kAll);
    const auto is_held = [&](const PrefixGap& gap) {
      return has_part(parts_of(key_of(gap, start, keys)), static_cast<size_t>(gap.kind));
    };
    if (std::ranges::all_of(gaps, is_held)) return state->n_tokens;
    most = state->n_tokens - 1;
  }
  return 0;
}

/// The key under which a gap of `tokens` is filled: a whole page's, or that of the state after all of them.
PageKey PrefixArchive::key_of(const PrefixGap& gap, std::span<const int32_t> tokens,
                              std::span<const PageKey> keys) const {
  const int32_t page_rows = cache_.terms().page_rows;
  const size_t n_whole = tokens.size() / static_cast<size_t>(page_rows);
  const bool is_state = gap.kind == static_cast<int>(cache_.terms().n_attention_kinds());
  if (!is_state && static_cast<size_t>(gap.page) < n_whole) return keys[static_cast<size_t>(gap.page) + 1];
  return state_key(keys[n_whole], past_pages(tokens, page_rows));
}

/// Fills all gaps of the tokens, or changes nothing.
PrefixArchive::Brought PrefixArchive::bring(std::string_view space, std::span<const int32_t> tokens,
                                            std::span<const PageKey> keys, PrefixExtent extent, ThreadPool& threads) {
  const auto gaps = prefix_gaps(cache_, space, tokens, extent);
  PrefixImport import(cache_, space, tokens, gaps);
  if (!import.has_pages()) return Brought::kNoRoom;
  std::vector<std::vector<std::span<std::byte>>> pieces;
  std::map<std::array<uint8_t, 32>, std::map<int, size_t>> gaps_of_key;  // gaps by part
  for (size_t i = 0; i < gaps.size(); ++i) {
    pieces.push_back(import.bytes_of(i));
    gaps_of_key[key_of(gaps[i], tokens, keys).bytes][gaps[i].kind] = i;
  }
  std::vector<std::vector<PartTarget>> targets;
  std::vector<LoadRequest> requests;
  for (const auto& [key, parts] : gaps_of_key) {
    std::vector<PartTarget>& of_key = targets.emplace_back();
    for (const auto& [part, gap] : parts) of_key.push_back({part, pieces[gap]});
    requests.push_back({PageKey{key}, {}, LoadOutcome::kAbsent});
  }
  for (size_t i = 0; i < requests.size(); ++i) requests[i].parts = targets[i];
  for (const LoadRequest& request : requests) tiers_->find(std::span(&request.key, 1));
  tiers_->load(requests, threads);
  const auto is_good = [](const LoadRequest& request) { return request.outcome == LoadOutcome::kGood; };
  if (!std::ranges::all_of(requests, is_good)) return Brought::kLost;
  import.keep();
  return Brought::kAll;
}

}  // namespace ferrox
