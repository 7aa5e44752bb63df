// How is an answer kept, found and forgotten?
#include "server/answer/response_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/hex.h"
#include "server/keys/api_key.h"

namespace ferrox {
namespace {

/// What a list and a hash table take of an entry besides its strings, generously.
constexpr int64_t kBookBytes = 256;

}  // namespace

std::optional<EndedAnswer> EndedAnswer::make(std::string body, std::span<const FinishReason> reasons) {
  const bool has_ended =
      std::ranges::none_of(reasons, [](FinishReason reason) { return reason == FinishReason::kCancelled; });
  if (!has_ended || reasons.empty()) return std::nullopt;
  return EndedAnswer(std::move(body));
}

std::string response_key(std::string_view space, std::string_view path, std::string_view body) {
  return hex_of(digest_of(fmt::format("{} {} {}{}{}", space.size(), path.size(), space, path, body)));
}

int64_t ResponseCache::bytes_of(const Entry& entry) {
  return kBookBytes + static_cast<int64_t>(entry.key.size() + entry.body.size());
}

const std::string* ResponseCache::find(const std::string& key, Time now) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end() && found->second->ends <= now) {
    erase(found->second);
  } else if (found != by_key_.end()) {
    ++stats_.n_hits;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->body;
  }
  ++stats_.n_misses;
  return nullptr;
}

void ResponseCache::insert(const std::string& key, const EndedAnswer& answer, Time now) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) erase(found->second);
  Entry entry{key, answer.body(), now + options_.ttl};
  const int64_t n_bytes = bytes_of(entry);
  if (!is_on() || n_bytes > options_.most_bytes) return;
  while (stats_.n_entries >= options_.most_entries || stats_.n_bytes + n_bytes > options_.most_bytes) {
    erase(std::prev(entries_.end()));
  }
  entries_.push_front(std::move(entry));
  by_key_.emplace(entries_.front().key, entries_.begin());
  ++stats_.n_entries;
  stats_.n_bytes += n_bytes;
}

void ResponseCache::erase(Entries::iterator entry) {
  --stats_.n_entries;
  stats_.n_bytes -= bytes_of(*entry);
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace ferrox
