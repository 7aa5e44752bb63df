#include "kv/prefix_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ferrox {
namespace {

constexpr size_t kShownTokens = 32;  ///< of a node: enough to tell by its text what it is

PrefixNodeReport node_report(const std::string& space, const PrefixNode& node, const PageGroups& groups) {
  PrefixNodeReport report{space, node.start, node.n_tokens(), node.n_live, {}, 0, false, !node.pins.empty(), {}};
  for (const StateSnapshot& state : node.states) report.states.push_back(state.position);
  report.n_children = static_cast<int64_t>(node.children.size());
  for (size_t kind = 0; kind < node.pages.size(); ++kind) {
    const PagePool& pool = groups.pool(static_cast<int>(kind));
    report.is_held |= std::ranges::any_of(node.pages[kind],
                                          [&](int32_t page) { return page != kNoPage && pool.n_holders(page) > 1; });
  }
  report.tokens.assign(node.tokens.begin(),
                       node.tokens.begin() + static_cast<ptrdiff_t>(std::min(node.tokens.size(), kShownTokens)));
  return report;
}

std::string currency_name(int window) {
  if (window == kStateKind) return "state";
  return window == 0 ? "full" : fmt::format("window {}", window);
}

std::vector<std::vector<int32_t>> pages_of(const PrefixMatch& match) {
  std::vector<std::vector<int32_t>> pages = match.pages;
  if (match.state != kNoPage) pages.push_back({match.state});
  return pages;
}

}  // namespace

PrefixReport PrefixCache::report(std::string_view space, std::span<const int32_t> prompt) const {
  const PrefixMatch found = match(space, prompt);
  const int64_t most = static_cast<int64_t>(prompt.size()) - 1;
  PrefixReport report{found.n_usable, found.n_common, PrefixMiss::kNone};
  if (found.n_usable >= most) return report;
  if (found.n_usable < std::min(found.n_common, most)) {
    report.miss = PrefixMiss::kWindow;
  } else {
    report.miss = found.was_evicted ? PrefixMiss::kEvicted : PrefixMiss::kDiverged;
  }
  return report;
}

PrefixTree::Insertion PrefixCache::insert(std::string_view space, std::span<const int32_t> tokens,
                                          std::span<const std::vector<int32_t>> pages, int32_t state) {
  const PrefixTree::Insertion done = tree_.insert(space, tokens, pages, state);
  pins_.note_cached(space, tokens);
  return done;
}

void PrefixCache::count_query(int64_t n_prompt, int64_t n_reused) {
  ++counts_.n_queries;
  counts_.n_hits += n_reused > 0;
  counts_.n_tokens_asked += static_cast<uint64_t>(n_prompt);
  counts_.n_tokens_reused += static_cast<uint64_t>(n_reused);
}

bool PrefixCache::make_room(std::span<const int64_t> n) {
  for (size_t kind = 0; kind < n.size(); ++kind) {
    const PagePool& pool = groups_.pool(static_cast<int>(kind));
    if (n[kind] > int64_t{pool.n_free()} + pool.n_idle()) return false;
  }
  for (size_t kind = 0; kind < n.size(); ++kind) {
    const int64_t missing = n[kind] - groups_.pool(static_cast<int>(kind)).n_free();
    if (missing > 0) tree_.evict(static_cast<int>(kind), missing);
  }
  return true;
}

PrefixCache::Hold::Hold(PageGroups& groups, std::vector<std::vector<int32_t>> pages)
    : groups_(groups), pages_(std::move(pages)) {
  for (size_t kind = 0; kind < pages_.size(); ++kind) {
    std::erase(pages_[kind], kNoPage);
    groups_.pool(static_cast<int>(kind)).retain(pages_[kind]);
  }
}

PrefixCache::Hold::Hold(PageGroups& groups, const PrefixMatch& match) : Hold(groups, pages_of(match)) {}

PrefixCache::Hold::~Hold() {
  for (size_t kind = 0; kind < pages_.size(); ++kind) groups_.pool(static_cast<int>(kind)).release(pages_[kind]);
}

PrefixCacheReport PrefixCache::report(size_t most_nodes) const {
  PrefixCacheReport report = counts_;
  const PrefixCounts counts = tree_.counts();
  report.n_nodes = counts.n_nodes;
  report.n_tokens = counts.n_tokens;
  report.n_pins = pins_.size();
  for (size_t kind = 0; kind < terms_.windows.size(); ++kind) {
    report.currencies.push_back({currency_name(terms_.windows[kind]), counts.n_pages[kind],
                                 static_cast<uint64_t>(groups_.pool(static_cast<int>(kind)).n_idle()),
                                 counts.n_pages[kind] * terms_.page_bytes[kind], counts.n_evicted[kind]});
  }
  tree_.each_node([&](const std::string& space, const PrefixNode& node) {
    if (node.is_root() || report.nodes.size() >= most_nodes) return;
    report.nodes.push_back(node_report(space, node, groups_));
  });
  return report;
}

}  // namespace ferrox
