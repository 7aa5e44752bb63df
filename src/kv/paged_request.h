// How does one request use paged memory? Its lease, and what it leaves to others on the way.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kv/lease.h"
#include "kv/prefix_cache.h"
#include "kv/request_kv.h"

namespace ferrox {

/// Publishes to the tree after every step of its prompt, so that others needn't wait for its end:
///   full pages   all of them; where the tree has the same, its own go back
///   windows      at branches: message boundaries, the prompt's end, an anchor, wherever somebody waits. For each page
///                it leaves there it takes another, since pages of the tree can't back later positions
///   states       snapshots at branches, where the prompt's steps end
class PagedRequest : public RequestKv {
 public:
  /// `cache` may be nullptr: then nothing is published. n_common: tokens of the prompt that some cached sequence
  /// shares, where another branch is likely.
  PagedRequest(KvLease lease, PagedStore& store, PrefixCache* cache, const KvDemand& demand, int64_t n_common);

  int64_t length() const override { return lease_.length(); }
  int64_t n_reused() const override { return n_reused_; }
  int64_t most_rows() const override;
  std::span<const PageTable> begin_step(int64_t n_rows) override { return lease_.begin_step(n_rows); }
  float* state() override;
  void end_step(std::span<const int32_t> tokens) override;
  void expect_branch(int64_t length) override;
  void observe_anchor(int64_t length) override;
  void publish(std::span<const int32_t> tokens) override;
  std::vector<std::unique_ptr<RequestKv>> fork_choices(int64_t n) override;

 private:
  PagedRequest(KvLease lease, const PagedRequest& sibling);
  bool has_state() const;
  void add_branch(int64_t length);
  void publish_step(std::span<const int32_t> tokens, int64_t from);
  bool passes(const std::set<int64_t>& lengths, int64_t from) const;
  std::vector<int32_t> pages_at_branches(int kind, int64_t from) const;
  void expect_page_ends(int64_t from);
  int32_t take_snapshot();

  KvLease lease_;
  PagedStore& store_;
  PrefixCache* cache_;
  std::string space_;
  std::set<int64_t> branches_;   ///< lengths at which windows and states are kept for others
  std::set<int64_t> page_ends_;  ///< where a page fills up that was left part full at a branch
  int64_t n_reused_;
};

}  // namespace ferrox
