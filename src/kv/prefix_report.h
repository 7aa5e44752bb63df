// What does the prefix cache tell about itself? Of one prompt, and of all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferrox {

/// Why no more of a prompt was reused.
enum class PrefixMiss {
  kNone,      ///< all of it but the last token was
  kDiverged,  ///< no cached sequence goes on with the same token
  kEvicted,   ///< one did, and gave way to others
  kWindow,    ///< one does, but the window's rows or the recurrent state there aren't kept
};

struct PrefixReport {
  int64_t n_reusable = 0;  ///< tokens
  int64_t n_common = 0;    ///< tokens that a cached sequence begins with as well
  PrefixMiss miss = PrefixMiss::kNone;
};

/// A part of the tree: tokens [start, start + n_tokens) of some cached sequences.
struct PrefixNodeReport {
  std::string space;
  int64_t start;
  int64_t n_tokens;
  std::vector<int64_t> n_pages;  ///< kept, of each attention kind
  std::vector<int64_t> states;   ///< positions of snapshots
  int64_t n_children;
  bool is_held;  ///< a request that runs holds pages of it
  bool is_pinned;
  std::vector<int32_t> tokens;  ///< the first of them
};

/// One kind of what is cached.
struct PrefixCurrencyReport {
  std::string name;  ///< "full", "window 512", "state"
  uint64_t n_pages = 0;
  uint64_t n_idle = 0;  ///< of them, that nobody else holds
  uint64_t bytes = 0;
  uint64_t n_evicted = 0;  ///< pages, since the start
};

struct PrefixCacheReport {
  uint64_t n_nodes = 0;
  uint64_t n_tokens = 0;
  uint64_t n_pins = 0;
  uint64_t n_queries = 0;       ///< requests admitted
  uint64_t n_hits = 0;          ///< of them, that found something
  uint64_t n_tokens_asked = 0;  ///< prompt tokens of all queries
  uint64_t n_tokens_reused = 0;
  std::vector<PrefixCurrencyReport> currencies;
  std::vector<PrefixNodeReport> nodes;  ///< parents first, as many as were asked for
};

}  // namespace ferrox
