// What did a tier do, and what does it hold?
#pragma once

#include <cstdint>

namespace ferrox {

struct TierStats {
  uint64_t n_entries = 0;
  uint64_t bytes = 0;         ///< counted against the budget: memory with its books, or sizes of files
  uint64_t budget_bytes = 0;  ///< 0: the tier is off
  uint64_t n_hits = 0;        ///< keys that were looked for and held
  uint64_t n_misses = 0;      ///< keys that were looked for and not held
  uint64_t n_stored = 0;
  uint64_t n_evicted = 0;
  uint64_t n_dropped = 0;    ///< not stored: larger than the budget, no room in staging, a full disk
  uint64_t n_damaged = 0;    ///< found, and not what they should be
  uint64_t n_io_errors = 0;  ///< what the system refused
  uint64_t n_loaded = 0;     ///< entries read
  uint64_t bytes_loaded = 0;
};

/// Host and disk, and what waits to be written.
struct PrefixTierStats {
  TierStats host;
  TierStats disk;
  uint64_t staged_bytes = 0;
  uint64_t staging_budget_bytes = 0;
  bool writes_disk = false;  ///< false as well while another process writes that folder
};

}  // namespace ferrox
