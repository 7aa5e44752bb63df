// How does a test stand for a router? It knows of a prefix tree only what the tree's observer was told.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "kv/page_hash.h"
#include "kv/prefix_tree.h"

namespace ferrox::testing {

class CacheReplica : public PrefixObserver {
 public:
  void stored(const StoredPages& pages) override {
    ASSERT_EQ(pages.tokens.size(), pages.hashes.size() * static_cast<size_t>(pages.page_rows));
    if (pages.parent) {
      EXPECT_TRUE(known.contains(*pages.parent)) << "pages hang on one that is there";
    }
    uint64_t hash = pages.parent.value_or(root_hash(pages.space));
    for (size_t i = 0; i < pages.hashes.size(); ++i) {
      const auto rows = static_cast<size_t>(pages.page_rows);
      hash = page_hash(hash, pages.tokens.subspan(i * rows, rows));
      EXPECT_EQ(pages.hashes[i], hash) << "readers can compute it from the tokens";
      EXPECT_TRUE(known.insert(hash).second) << "a page is told of once";
    }
  }
  void removed(std::span<const uint64_t> hashes) override {
    for (const uint64_t hash : hashes) EXPECT_EQ(known.erase(hash), 1u) << "only what is there goes";
  }
  void cleared() override {
    known.clear();
    ++n_cleared;
  }

  std::unordered_set<uint64_t> known;
  int n_cleared = 0;
};

/// The hash of every whole page of a tree, from its tokens alone.
inline std::unordered_set<uint64_t> hashes_in(const PrefixTree& tree, int32_t page_rows) {
  std::unordered_set<uint64_t> hashes;
  std::unordered_map<const PrefixNode*, uint64_t> last_of;
  const auto rows = static_cast<size_t>(page_rows);
  tree.each_node([&](const std::string& space, const PrefixNode& node) {
    uint64_t hash = node.is_root() ? root_hash(space) : last_of.at(node.parent);
    for (size_t at = 0; at + rows <= node.tokens.size(); at += rows) {
      hash = page_hash(hash, std::span(node.tokens).subspan(at, rows));
      hashes.insert(hash);
    }
    last_of[&node] = hash;
  });
  return hashes;
}

}  // namespace ferrox::testing
