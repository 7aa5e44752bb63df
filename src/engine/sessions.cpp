#include "engine/sessions.h"

#include <algorithm>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/units.h"

namespace ferrox {
namespace {

constexpr int kReadThreads = 2;  // a file that is in memory comes at the speed of one copy and one checksum

}  // namespace

/// What the engine thread keeps in place while a file is written.
struct Sessions::Held {
  explicit Held(const EnginePost& post) : pages(post) {}

  int64_t n_tokens = 0;
  std::vector<SessionPart> parts;                              ///< ascending
  std::vector<std::vector<std::span<const std::byte>>> bytes;  ///< of each part
  std::vector<std::vector<std::byte>> copies;                  ///< of pages that somebody may still write
  EngineLoan<PrefixCache::Hold> pages;
};

Sessions::Sessions(PrefixCache& cache, PrefixTiers& tiers, std::unique_ptr<SessionStore> store, uint64_t disk_bytes,
                   int32_t n_vocab, EnginePost post)
    : cache_(cache),
      tiers_(tiers),
      store_(std::move(store)),
      disk_bytes_(disk_bytes),
      n_vocab_(n_vocab),
      post_(std::move(post)) {
  share_disk();
}

/// Calls work() on the engine thread and waits for its end.
template <class Work>
Result<void> Sessions::on_engine(const Work& work) {
  const auto done = std::make_shared<std::promise<void>>();  // outlives the wait: its last act may be after it
  const std::future<void> is_done = done->get_future();
  const bool is_posted = post_([&work, done] {
    work();
    done->set_value();
  });
  if (!is_posted) return make_error(ErrorCode::kUnavailable, "sessions: the engine stops");
  is_done.wait();
  return {};
}

/// Tiers have what sessions leave, those that are there and one that is being written.
void Sessions::share_disk() {
  const std::lock_guard lock(sharing_);
  const uint64_t taken = store_->size_bytes() + reserved_bytes_;
  tiers_.set_disk_budget(disk_bytes_ - std::min(disk_bytes_, taken));
}

/// Room for a file that is about to be written, until it counts by itself or has failed.
class Sessions::DiskShare {
 public:
  DiskShare(Sessions& sessions, uint64_t size_bytes) : DiskShare(sessions) { reserve(size_bytes); }
  DiskShare(const DiskShare&) = delete;
  DiskShare& operator=(const DiskShare&) = delete;
  ~DiskShare() {
    try {
      reserve(0);
    } catch (const std::bad_alloc&) {  // the next one tells the tiers
    }
  }

 private:
  explicit DiskShare(Sessions& sessions) : sessions_(sessions) {}

  void reserve(uint64_t size_bytes) {
    {
      const std::lock_guard lock(sessions_.sharing_);
      sessions_.reserved_bytes_ = size_bytes;
    }
    sessions_.share_disk();
  }

  Sessions& sessions_;
};

// ---- saving

void Sessions::hold(std::string_view space, std::span<const int32_t> tokens, Held& held) {
  const PrefixMatch match = cache_.tree().match(space, tokens, static_cast<int64_t>(tokens.size()));
  held.n_tokens = match.n_usable;
  if (2 * held.n_tokens < static_cast<int64_t>(tokens.size())) return;
  const KvTerms& terms = cache_.terms();
  std::vector<PrefixGap> pages = pages_behind(terms, held.n_tokens);
  std::ranges::sort(pages, {}, [](const PrefixGap& each) { return std::pair(each.page, each.kind); });
  for (const auto& [kind, page] : pages) {
    const bool is_state = kind == static_cast<int>(terms.n_attention_kinds());
    const int32_t number = is_state ? match.state : match.pages[static_cast<size_t>(kind)][static_cast<size_t>(page)];
    const auto pieces = cache_.store().pieces(kind, number);
    held.parts.push_back({static_cast<int32_t>(page), kind});
    auto& bytes = held.bytes.emplace_back(pieces.begin(), pieces.end());
    const bool is_part_full = !is_state && (page + 1) * terms.page_rows > held.n_tokens;
    if (!is_part_full) continue;
    for (auto& piece : bytes) piece = held.copies.emplace_back(piece.begin(), piece.end());
  }
  held.pages.make(cache_.groups(), match);
}

Result<SessionId> Sessions::write(std::span<const int32_t> tokens, const Held& held) {
  const std::lock_guard lock(saving_);
  const uint64_t size_bytes = store_->file_bytes(tokens.size(), held.parts);
  const uint64_t left = disk_bytes_ - std::min(disk_bytes_, store_->size_bytes());
  if (size_bytes > left) {
    return make_error(ErrorCode::kMemoryBudget, "session of {} tokens: {} > {} that other sessions leave of {}",
                      tokens.size(), format_bytes(size_bytes), format_bytes(left), format_bytes(disk_bytes_));
  }
  const DiskShare share(*this, size_bytes);
  tiers_.flush();
  std::vector<SessionSource> sources;
  for (size_t i = 0; i < held.parts.size(); ++i) sources.push_back({held.parts[i], held.bytes[i]});
  return store_->save(tokens, held.n_tokens, sources, std::nullopt);
}

Result<SessionSummary> Sessions::save(std::string_view space, std::span<const int32_t> tokens) {
  Held held(post_);
  TRY(on_engine([&] { hold(space, tokens, held); }));
  if (2 * held.n_tokens < static_cast<int64_t>(tokens.size())) {
    return make_error(ErrorCode::kNotFound, "{} of these {} tokens are cached: ask for an answer first", held.n_tokens,
                      tokens.size());
  }
  const auto kept = tokens.first(static_cast<size_t>(held.n_tokens));
  TRY_ASSIGN(const SessionId id, write(kept, held));
  return SessionSummary{id, store_->file_bytes(kept.size(), held.parts), held.n_tokens, 0};
}

// ---- restoring

/// Refuses what the whole store hasn't pages for.
Result<void> Sessions::check_size(const SessionId& id, std::span<const PrefixGap> needed) const {
  std::vector<int64_t> n(cache_.terms().n_pages.size(), 0);
  for (const PrefixGap& page : needed) ++n[static_cast<size_t>(page.kind)];
  if (fits_pages(n, cache_.terms().n_pages)) return {};
  const std::vector<int64_t> all(cache_.terms().n_pages.begin(), cache_.terms().n_pages.end());
  return make_error(ErrorCode::kMemoryBudget, "session {}: {} > {} of the KV store", to_hex(id),
                    format_bytes(bytes_of_pages(cache_.terms(), n)), format_bytes(bytes_of_pages(cache_.terms(), all)));
}

/// Reads every part once, so that a file that can't be used costs nobody a page.
Result<void> Sessions::check_parts(const SessionFile& file, std::span<const PrefixGap> needed) const {
  ThreadPool thread(1);
  std::vector<std::byte> bytes;
  for (const PrefixGap& page : needed) {
    bytes.resize(cache_.terms().page_bytes[static_cast<size_t>(page.kind)]);
    const std::span<std::byte> piece(bytes);
    const SessionTarget target{{static_cast<int32_t>(page.page), page.kind}, std::span(&piece, 1)};
    TRY(file.load(std::span(&target, 1), thread));
  }
  return {};
}

Result<SessionSummary> Sessions::restore(const SessionId& id, std::string_view space) {
  TRY_ASSIGN(const SessionFile file, store_->open_session(id));
  const auto is_token = [this](int32_t token) { return token >= 0 && token < n_vocab_; };
  if (const auto bad = std::ranges::find_if_not(file.tokens(), is_token); bad != file.tokens().end()) {
    return make_error(ErrorCode::kCorrupt, "session {}: expected token ids below {}, found {}", to_hex(id), n_vocab_,
                      *bad);
  }
  const auto tokens = file.tokens().first(static_cast<size_t>(file.n_rows()));
  if (tokens.empty()) return make_error(ErrorCode::kCorrupt, "session {}: expected rows, found none", to_hex(id));
  const std::vector<PrefixGap> needed = pages_behind(cache_.terms(), static_cast<int64_t>(tokens.size()));
  TRY(check_size(id, needed));
  TRY(check_parts(file, needed));
  std::vector<PrefixGap> gaps;
  EngineLoan<PrefixImport> import(post_);
  TRY(on_engine([&] {
    gaps = prefix_gaps(cache_, space, tokens, PrefixExtent::kAll);
    import.make(cache_, space, tokens, gaps);
  }));
  if (!import->has_pages()) {
    return make_error(ErrorCode::kUnavailable, "session {}: no room for {} pages: requests that run hold the rest",
                      to_hex(id), gaps.size());
  }
  std::vector<std::vector<std::span<std::byte>>> pieces;
  std::vector<SessionTarget> targets;
  for (size_t i = 0; i < gaps.size(); ++i) pieces.push_back(import->bytes_of(i));
  for (size_t i = 0; i < gaps.size(); ++i) {
    targets.push_back({{static_cast<int32_t>(gaps[i].page), gaps[i].kind}, pieces[i]});
  }
  ThreadPool threads(kReadThreads);
  TRY(file.load(targets, threads));
  TRY(on_engine([&] {
    import->keep();
    import.end();
  }));
  return SessionSummary{id, store_->file_bytes(file.tokens().size(), file.parts()), static_cast<int64_t>(tokens.size()),
                        0};
}

Result<void> Sessions::erase(const SessionId& id) {
  TRY(store_->erase(id));
  share_disk();
  return {};
}

}  // namespace ferrox
