// Does the tree find what a flat list of everything that was computed would find, and keep its books right?
#include "kv/prefix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>

#include "kv/cache_replica.h"
#include "kv/prefix_cache.h"

namespace ferrox {
namespace {

using Tokens = std::vector<int32_t>;

constexpr int32_t kPageRows = 4;

KvTerms terms_with(std::vector<int> windows, int32_t n_pages) {
  KvTerms terms;
  terms.n_pages.assign(windows.size(), n_pages);
  terms.page_bytes.assign(windows.size(), 1);
  terms.windows = std::move(windows);
  terms.page_rows = kPageRows;
  return terms;
}

PageGroups groups_for(const KvTerms& terms) {
  return PageGroups(terms.n_pages, terms.has_state() ? PageGroups::State::kLastKind : PageGroups::State::kNone);
}

Tokens counting(int32_t first, int32_t n) {
  Tokens tokens(static_cast<size_t>(n));
  for (int32_t i = 0; i < n; ++i) tokens[static_cast<size_t>(i)] = first + i;
  return tokens;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A tree of full attention alone, and a caller that takes pages for all it inserts.
struct FullTree {
  explicit FullTree(int32_t n_pages = 64) : terms(terms_with({0}, n_pages)), groups(groups_for(terms)) {}

  /// Computes and leaves a sequence; gives its pages.
  Tokens add(const Tokens& tokens, std::string_view space = "") {
    Tokens pages;
    EXPECT_TRUE(groups.pool(0).try_acquire((static_cast<int64_t>(tokens.size()) + kPageRows - 1) / kPageRows, pages));
    last = tree.insert(space, tokens, std::vector<Tokens>{pages});
    groups.pool(0).release(pages);
    tree.check_integrity();
    groups.check_integrity();
    return pages;
  }
  PrefixMatch match(const Tokens& tokens, std::string_view space = "") const {
    return tree.match(space, tokens, static_cast<int64_t>(tokens.size()) - 1);
  }

  KvTerms terms;
  PageGroups groups;
  PrefixTree tree{groups, terms};
  PrefixTree::Insertion last;
};

TEST(PrefixTree, ReuseIsByToken) {
  FullTree cache;
  const Tokens pages = cache.add(counting(0, 8));
  const PrefixMatch match = cache.match({0, 1, 2, 3, 4, 5, 99, 98});
  EXPECT_EQ(match.n_usable, 6) << "4 of a whole page, 2 from the next";
  EXPECT_EQ(match.pages, std::vector<Tokens>{pages});
  EXPECT_EQ(cache.match({0, 1, 99}).n_usable, 2) << "also where no page is whole";
  EXPECT_EQ(cache.match({7, 0, 1}).n_usable, 0);
}

TEST(PrefixTree, AnExactRepeatComputesOneToken) {
  FullTree cache;
  cache.add(counting(0, 10));
  EXPECT_EQ(cache.match(counting(0, 10)).n_usable, 9);
  EXPECT_EQ(cache.match(counting(0, 11)).n_usable, 10) << "a part-full page lends its rows";
}

TEST(PrefixTree, ASplitSharesWhatIsCommon) {
  FullTree cache;
  cache.add(joined(counting(0, 8), counting(50, 8)));
  cache.add(joined(counting(0, 8), counting(80, 8)));
  EXPECT_EQ(cache.last.n_known, 8);
  EXPECT_EQ(cache.tree.counts().n_nodes, 3u);
  EXPECT_EQ(cache.tree.counts().n_pages, std::vector<uint64_t>{6}) << "two of eight are shared";
  ASSERT_EQ(cache.last.duplicates.size(), 2u);
  EXPECT_EQ(cache.last.duplicates[0].index, 0);
}

TEST(PrefixTree, AConversationGrowsInPlace) {
  FullTree cache;
  cache.add(counting(0, 6));
  cache.add(counting(0, 11));
  cache.add(counting(0, 16));
  EXPECT_EQ(cache.tree.counts().n_nodes, 1u);
  EXPECT_EQ(cache.tree.counts().n_pages, std::vector<uint64_t>{4}) << "part-full pages gave way";
}

TEST(PrefixTree, NamespacesSeeOnlyTheirOwn) {
  FullTree cache;
  cache.add(counting(0, 8), "one");
  EXPECT_EQ(cache.match(counting(0, 8), "two").n_common, 0);
  EXPECT_EQ(cache.match(counting(0, 8), "one").n_usable, 7);
  cache.add(counting(0, 8), "two");
  EXPECT_EQ(cache.tree.counts().n_pages, std::vector<uint64_t>{4}) << "nothing is shared between them";
}

TEST(PrefixTree, TheOldestLeafGoesFirst) {
  FullTree cache;
  cache.add(joined(counting(0, 4), counting(50, 4)));
  cache.add(joined(counting(0, 4), counting(60, 4)));
  cache.add(joined(counting(0, 4), counting(70, 4)));
  cache.tree.touch("", joined(counting(0, 4), counting(50, 4)), 8);
  cache.tree.evict(0, 1);
  const PrefixMatch gone = cache.match(joined(counting(0, 4), counting(60, 5)));
  EXPECT_EQ(gone.n_usable, 4);
  EXPECT_TRUE(gone.was_evicted);
  EXPECT_EQ(cache.match(joined(counting(0, 4), counting(50, 5))).n_usable, 8) << "it was used since";
  EXPECT_FALSE(cache.match(joined(counting(0, 4), counting(90, 5))).was_evicted) << "it never was there";
  cache.tree.evict(0, 3);
  EXPECT_EQ(cache.tree.counts().n_nodes, 0u) << "a parent without children is a leaf";
  cache.tree.check_integrity();
}

TEST(PrefixTree, OnlyWhatNobodyHoldsIsEvicted) {
  FullTree cache;
  const Tokens pages = cache.add(counting(0, 12));
  cache.groups.pool(0).retain(std::span(pages).first(2));
  EXPECT_EQ(cache.groups.pool(0).n_idle(), 1);
  EXPECT_DEATH(cache.tree.evict(0, 2), "only what nobody holds is evicted");
  cache.tree.evict(0, 1);
  EXPECT_EQ(cache.match(counting(0, 12)).n_usable, 8);
  cache.groups.pool(0).release(std::span(pages).first(2));
}

TEST(PrefixTree, AWindowIsUsableWhereItsRowsAreLive) {
  const KvTerms terms = terms_with({6, 0}, 32);
  PageGroups groups = groups_for(terms);
  PrefixTree tree(groups, terms);
  Tokens sliding;
  Tokens full;
  ASSERT_TRUE(groups.pool(0).try_acquire(5, sliding) && groups.pool(1).try_acquire(5, full));
  Tokens kept = sliding;
  kept[0] = kept[3] = kept[4] = kNoPage;  // rows 4 .. 11 are live
  tree.insert("", counting(0, 20), std::vector<Tokens>{kept, full});
  groups.pool(0).release(sliding);
  groups.pool(1).release(full);
  tree.check_integrity();
  const PrefixMatch match = tree.match("", counting(0, 20), 19);
  EXPECT_EQ(match.n_common, 20);
  EXPECT_EQ(match.n_usable, 12) << "the window's five rows before 12 are there";
  EXPECT_EQ(match.pages[0], (Tokens{kNoPage, kept[1], kept[2]}));
  EXPECT_EQ(tree.match("", counting(0, 20), 9).n_usable, 9) << "row 4 is the first that it reads";
  EXPECT_EQ(tree.match("", counting(0, 20), 8).n_usable, 0) << "row 3 isn't there";
  tree.evict(0, 1);
  EXPECT_EQ(tree.match("", counting(0, 20), 19).n_usable, 0);
  EXPECT_EQ(tree.match("", counting(0, 20), 19).n_common, 20) << "a tombstone keeps its full pages";
}

TEST(PrefixTree, AStateIsUsableExactlyWhereItWasTaken) {
  const KvTerms terms = terms_with({0, kStateKind}, 32);
  PageGroups groups = groups_for(terms);
  PrefixTree tree(groups, terms);
  Tokens full;
  Tokens states;
  ASSERT_TRUE(groups.pool(0).try_acquire(5, full) && groups.pool(1).try_acquire(2, states));
  tree.insert("", counting(0, 6), std::vector<Tokens>{Tokens(full.begin(), full.begin() + 2)}, states[0]);
  tree.insert("", counting(0, 17), std::vector<Tokens>{full}, states[1]);
  groups.pool(0).release(full);
  groups.pool(1).release(states);
  tree.check_integrity();
  EXPECT_EQ(tree.match("", counting(0, 17), 16).n_usable, 6) << "a token has to be computed";
  EXPECT_EQ(tree.match("", counting(0, 18), 17).n_usable, 17);
  EXPECT_EQ(tree.match("", counting(0, 18), 17).state, states[1]);
  EXPECT_EQ(tree.match("", joined(counting(0, 12), {99, 98}), 13).n_usable, 6);
  Tokens branch(full.begin(), full.begin() + 2);
  ASSERT_TRUE(groups.pool(0).try_acquire(1, branch));
  tree.insert("", joined(counting(0, 8), counting(60, 4)), std::vector<Tokens>{branch});
  groups.pool(0).release({&branch.back(), 1});
  tree.check_integrity();
  EXPECT_EQ(tree.match("", counting(0, 18), 17).n_usable, 17) << "a split leaves each snapshot where it belongs";
  EXPECT_EQ(tree.match("", counting(0, 18), 16).n_usable, 6);
}

TEST(PrefixTree, WithoutFullAttentionOnlyWhatCanBeResumedIsKept) {
  const KvTerms terms = terms_with({kStateKind}, 8);
  PageGroups groups = groups_for(terms);
  PrefixTree tree(groups, terms);
  tree.insert("", counting(0, 9), {});
  EXPECT_EQ(tree.counts().n_tokens, 0u);
  Tokens state;
  ASSERT_TRUE(groups.pool(0).try_acquire(1, state));
  EXPECT_TRUE(tree.insert("", counting(0, 9), {}, state[0]).took_state);
  groups.pool(0).release(state);
  EXPECT_EQ(tree.match("", counting(0, 12), 11).n_usable, 9);
  tree.check_integrity();
  tree.evict(0, 1);
  EXPECT_EQ(tree.counts().n_tokens, 0u);
  tree.check_integrity();
}

// ---- the twin

/// What a page holds: the rows of the last positions of `prefix`; or the state after all of it.
struct Content {
  std::string space;
  Tokens prefix;
};

/// Random requests against one tree. The twin is a flat list of what was computed into which page, and asks the pools
/// alone what is still kept.
class TwinRun {
 public:
  TwinRun(std::vector<int> windows, int32_t n_pages, uint32_t seed)
      : terms_(terms_with(std::move(windows), n_pages)),
        groups_(groups_for(terms_)),
        contents_(terms_.windows.size()),
        random_(seed) {
    tree_.observe(replica_);
  }

  void run(int n_operations) {
    for (int i = 0; i < n_operations && !::testing::Test::HasFailure(); ++i) {
      step();
      tree_.check_integrity();
      groups_.check_integrity();
      EXPECT_EQ(replica_.known, testing::hashes_in(tree_, kPageRows)) << "who hears of every page knows them all";
    }
    while (!running_.empty()) end(0);
    tree_.clear();
    EXPECT_TRUE(replica_.known.empty());
    for (size_t kind = 0; kind < terms_.windows.size(); ++kind) EXPECT_EQ(pool(kind).n_held(), 0);
    EXPECT_LE(n_nearer_, n_matches_ / 25);
  }

  int n_hits() const { return n_hits_; }

 private:
  struct Running {
    std::string space;
    Tokens tokens;
    std::vector<Tokens> table;  ///< [attention kind]
    std::vector<Tokens> held;   ///< of each kind
  };

  PagePool& pool(size_t kind) { return groups_.pool(static_cast<int>(kind)); }
  int32_t below(int32_t n) { return static_cast<int32_t>(random_() % static_cast<uint32_t>(n)); }
  size_t n_kinds() const { return terms_.n_attention_kinds(); }
  static int64_t pages_for(int64_t n) { return (n + kPageRows - 1) / kPageRows; }

  void step() {
    const int32_t what = below(20);
    if (what < 9) return begin();
    if (what < 15 && !running_.empty()) return grow(static_cast<size_t>(below(static_cast<int32_t>(running_.size()))));
    if (what < 18 && !running_.empty()) return end(static_cast<size_t>(below(static_cast<int32_t>(running_.size()))));
    if (what == 19 && below(50) == 0) return tree_.clear();
    if (what == 19 && below(2) == 0) return pin();
    const auto kind = static_cast<size_t>(below(static_cast<int32_t>(terms_.windows.size())));
    evict(kind, below(pool(kind).n_idle() + 1));
  }

  /// Pins the start of something that was asked, or lets go of the oldest pin.
  void pin() {
    if (pins_.size() == 4 || (asked_.empty() && !pins_.empty())) {
      const auto oldest = pins_.begin();
      tree_.unpin(oldest->first, "", oldest->second);
      pins_.erase(oldest);
      return;
    }
    if (asked_.empty()) return;
    Tokens tokens = asked_[static_cast<size_t>(below(static_cast<int32_t>(asked_.size())))];
    tokens.resize(tokens.size() / kPageRows * kPageRows);
    if (tokens.empty()) return;
    tree_.pin(next_pin_, "", tokens);
    pins_.emplace(next_pin_++, tokens);
  }

  /// Idle pages of a kind in parts of the tree that are pinned.
  int64_t n_pinned_idle(size_t kind) {
    int64_t n = 0;
    tree_.each_node([&](const std::string&, const PrefixNode& node) {
      if (node.pins.empty()) return;
      const auto count = [&](int32_t page) { n += page != kNoPage && pool(kind).n_holders(page) == 1; };
      if (kind == n_kinds()) {
        for (const StateSnapshot& state : node.states) count(state.page);
      } else {
        std::ranges::for_each(node.pages[kind], count);
      }
    });
    return n;
  }

  void evict(size_t kind, int64_t n) {
    const int64_t n_pinned = n_pinned_idle(kind);
    const int64_t n_others = pool(kind).n_idle() - n_pinned;
    tree_.evict(static_cast<int>(kind), n);
    EXPECT_EQ(n_pinned_idle(kind), n_pinned - std::max<int64_t>(0, n - n_others)) << "the pinned go last";
  }

  /// Some start of what was asked before, and something new.
  Tokens random_prompt() {
    Tokens prompt;
    if (!asked_.empty() && below(4) > 0) {
      prompt = asked_[static_cast<size_t>(below(static_cast<int32_t>(asked_.size())))];
      if (below(2) == 0) prompt.resize(static_cast<size_t>(below(static_cast<int32_t>(prompt.size()) + 1)));
    }
    for (int32_t n = 1 + below(8); n > 0; --n) prompt.push_back(below(3));
    if (prompt.size() > 48) prompt.resize(48);
    asked_.push_back(prompt);
    if (asked_.size() > 30) asked_.pop_front();
    return prompt;
  }

  bool is_kept(size_t kind, int32_t page) { return pool(kind).n_holders(page) > 0 && pool(kind).is_kept(page); }

  /// Whether some kept page of the kind holds rows [.., to) of page i of these tokens.
  bool has_rows(size_t kind, const std::string& space, const Tokens& tokens, int64_t to) {
    return std::ranges::any_of(contents_[kind], [&](const auto& entry) {
      const auto& [page, content] = entry;
      return is_kept(kind, page) && content.space == space &&
             pages_for(static_cast<int64_t>(content.prefix.size())) == pages_for(to) &&
             common_length(content.prefix, tokens) >= to;
    });
  }

  /// What the flat list says can be gone on behind.
  int64_t usable(const std::string& space, const Tokens& tokens, int64_t limit) {
    for (int64_t n = limit; n > 0; --n) {
      bool is_usable = true;
      for (size_t kind = 0; kind < n_kinds() && is_usable; ++kind) {
        const int window = terms_.windows[kind];
        const int64_t first = window == 0 ? 0 : std::max<int64_t>(0, n + 1 - window);
        for (int64_t page = first / kPageRows; is_usable && first < n && page < pages_for(n); ++page) {
          is_usable = has_rows(kind, space, tokens, std::min(n, (page + 1) * kPageRows));
        }
      }
      if (is_usable && terms_.has_state()) {
        is_usable = std::ranges::any_of(contents_.back(), [&](const auto& entry) {
          const auto& [page, content] = entry;
          return is_kept(n_kinds(), page) && content.space == space &&
                 std::ranges::equal(content.prefix, std::span(tokens).first(static_cast<size_t>(n)));
        });
      }
      if (is_usable) return n;
    }
    return 0;
  }

  void expect_content(const PrefixMatch& match, const std::string& space, const Tokens& tokens) {
    for (size_t kind = 0; kind < n_kinds(); ++kind) {
      for (size_t i = 0; i < match.pages[kind].size(); ++i) {
        const int32_t page = match.pages[kind][i];
        if (page == kNoPage) continue;
        const Content& content = contents_[kind][page];
        const int64_t to = std::min(match.n_usable, static_cast<int64_t>(i + 1) * kPageRows);
        EXPECT_EQ(content.space, space);
        EXPECT_GE(common_length(content.prefix, tokens), to);
        EXPECT_EQ(pages_for(static_cast<int64_t>(content.prefix.size())), static_cast<int64_t>(i) + 1);
      }
    }
  }

  void begin() {
    if (running_.size() >= 3) return;
    Running request{below(8) == 0 ? "other" : "", random_prompt(), {}, {}};
    const auto limit = static_cast<int64_t>(request.tokens.size()) - 1;
    const PrefixMatch match = tree_.match(request.space, request.tokens, limit);
    const int64_t n_usable = usable(request.space, request.tokens, limit);
    if (terms_.windows == std::vector<int>{0}) {
      EXPECT_EQ(match.n_usable, n_usable);
    }
    EXPECT_LE(match.n_usable, n_usable);
    // Of very many siblings that part within a page not all are asked, though one may have the window or the state.
    n_nearer_ += match.n_usable < n_usable;
    ++n_matches_;
    expect_content(match, request.space, request.tokens);
    n_hits_ += match.n_usable > 0;
    // As a lease does: whole pages are shared, then pages of its own.
    const int64_t n_whole = match.n_usable / kPageRows;
    request.table.resize(n_kinds());
    request.held.resize(terms_.windows.size());
    for (size_t kind = 0; kind < n_kinds(); ++kind) {
      request.table[kind].assign(match.pages[kind].begin(), match.pages[kind].begin() + n_whole);
      request.held[kind] = request.table[kind];
      std::erase(request.held[kind], kNoPage);
      pool(kind).retain(request.held[kind]);
    }
    if (match.n_usable > 0) tree_.touch(request.space, request.tokens, match.n_usable);
    running_.push_back(std::move(request));
    if (!fill(running_.back())) return give_up();
    if (below(3) == 0) leave(running_.back());
  }

  /// Pages of its own for all its tokens; false when there are none to be had.
  bool fill(Running& request) {
    for (size_t kind = 0; kind < terms_.windows.size(); ++kind) {
      const bool is_state = kind == n_kinds();
      const int64_t n = is_state ? 1 - static_cast<int64_t>(request.held[kind].size())
                                 : pages_for(static_cast<int64_t>(request.tokens.size())) -
                                       static_cast<int64_t>(request.table[kind].size());
      const int64_t missing = n - pool(kind).n_free();
      if (missing > pool(kind).n_idle()) return false;
      if (missing > 0) evict(kind, missing);
      Tokens own;
      EXPECT_TRUE(pool(kind).try_acquire(n, own));
      request.held[kind].insert(request.held[kind].end(), own.begin(), own.end());
      if (!is_state) request.table[kind].insert(request.table[kind].end(), own.begin(), own.end());
    }
    return true;
  }

  void give_up() {
    for (size_t kind = 0; kind < terms_.windows.size(); ++kind) pool(kind).release(running_.back().held[kind]);
    running_.pop_back();
  }

  void grow(size_t i) {
    Running& request = running_[i];
    if (request.tokens.size() >= 60) return;
    const Tokens before = request.tokens;
    for (int32_t n = 1 + below(6); n > 0; --n) request.tokens.push_back(below(3));
    if (!fill(request)) {
      request.tokens = before;
      std::swap(request, running_.back());
      return give_up();
    }
    if (below(2) == 0) leave(running_[i]);
  }

  /// Leaves what is computed to others: all full pages, some of the windows, perhaps the state.
  void leave(Running& request) {
    const auto n = static_cast<int64_t>(request.tokens.size());
    std::vector<Tokens> offered;
    for (size_t kind = 0; kind < n_kinds(); ++kind) {
      offered.push_back(request.table[kind]);
      for (size_t i = 0; i < offered[kind].size(); ++i) {
        const int32_t page = offered[kind][i];
        if (terms_.windows[kind] > 0 && below(4) == 0) offered[kind][i] = kNoPage;
        if (page == kNoPage || is_whole_of(kind, page, i)) continue;
        const auto end = std::min(n, static_cast<int64_t>(i + 1) * kPageRows);
        contents_[kind][page] = {request.space, Tokens(request.tokens.begin(), request.tokens.begin() + end)};
      }
    }
    int32_t state = kNoPage;
    if (terms_.has_state() && below(3) > 0) {
      state = request.held.back().front();
      if (pool(n_kinds()).is_kept(state)) {
        state = kNoPage;
      } else {
        contents_.back()[state] = {request.space, request.tokens};
      }
    }
    const PrefixTree::Insertion done = tree_.insert(request.space, request.tokens, offered, state);
    for (size_t kind = 0; kind < n_kinds(); ++kind) {
      if (terms_.windows[kind] == 0) exchange(request, kind, done.duplicates);
    }
    if (!done.took_state) return;
    // The state goes on in another page: a snapshot doesn't change.
    pool(n_kinds()).release(request.held.back());
    request.held.back().clear();
    if (!fill(request)) {
      std::swap(request, running_.back());
      give_up();
    }
  }

  /// A page that the tree had before, in whole, keeps its content.
  bool is_whole_of(size_t kind, int32_t page, size_t i) {
    return is_kept(kind, page) &&
           static_cast<int64_t>(contents_[kind][page].prefix.size()) == static_cast<int64_t>(i + 1) * kPageRows;
  }

  void exchange(Running& request, size_t kind, const std::vector<PageDuplicate>& duplicates) {
    for (const auto& [index, page] : duplicates) {
      const Content& content = contents_[kind][page];
      EXPECT_EQ(common_length(content.prefix, request.tokens), (index + 1) * kPageRows) << "the same rows";
      int32_t& own = request.table[kind][static_cast<size_t>(index)];
      pool(kind).retain({&page, 1});
      pool(kind).release({&own, 1});
      *std::ranges::find(request.held[kind], own) = page;
      own = page;
    }
  }

  void end(size_t i) {
    std::swap(running_[i], running_.back());
    const size_t n_before = running_.size();
    if (below(5) > 0) leave(running_.back());
    if (running_.size() == n_before) give_up();
  }

  KvTerms terms_;
  PageGroups groups_;
  testing::CacheReplica replica_;
  PrefixTree tree_{groups_, terms_};
  std::vector<std::map<int32_t, Content>> contents_;  ///< [kind][page]
  std::deque<Tokens> asked_;
  std::vector<Running> running_;
  std::map<uint64_t, Tokens> pins_;
  uint64_t next_pin_ = 1;
  std::mt19937 random_;
  int n_hits_ = 0;
  int n_nearer_ = 0;
  int n_matches_ = 0;
};

int n_operations() {
  const char* given = std::getenv("FERROX_PREFIX_OPERATIONS");
  return given == nullptr ? 3000 : std::atoi(given);
}

// C9: the books agree with the pools after every operation.
TEST(PrefixTreeTwin, EveryMixOfCurrencies) {
  const std::vector<std::vector<int>> mixes = {{0},    {6, 0},          {6},          {1, 0},
                                               {5, 9}, {0, kStateKind}, {kStateKind}, {6, 0, kStateKind}};
  for (size_t mix = 0; mix < mixes.size(); ++mix) {
    SCOPED_TRACE("mix " + std::to_string(mix));
    TwinRun run(mixes[mix], 48, static_cast<uint32_t>(mix) + 1);
    run.run(n_operations());
    EXPECT_GT(run.n_hits(), n_operations() / 1000);
  }
}

/// So little memory that nearly everything is held or has just been evicted.
TEST(PrefixTreeTwin, UnderPressure) {
  for (const auto& windows : std::vector<std::vector<int>>{{0}, {6, 0}, {0, kStateKind}}) {
    TwinRun run(windows, 18, 77);
    run.run(n_operations());
  }
}

}  // namespace
}  // namespace ferrox
