// How is a conversation put away and taken up again, by another process as well? What the prefix cache holds of it goes
// to a file, and comes back as if it had just been computed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine_loan.h"
#include "kv/prefix_import.h"
#include "tier/prefix_tiers.h"
#include "tier/session_store.h"

namespace ferrox {

/// Safe from any thread but the engine's. Files are read and written on the caller's thread; the engine's only takes
/// and gives back pages.
class Sessions {
 public:
  /// Sessions and the tiers' files share disk_bytes, sessions first. All must outlive this. Token ids of files are
  /// checked against n_vocab.
  Sessions(PrefixCache& cache, PrefixTiers& tiers, std::unique_ptr<SessionStore> store, uint64_t disk_bytes,
           int32_t n_vocab, EnginePost post);

  /// Saves as many of the tokens as the cache can go on behind. Errors: less than half of them (kNotFound), more than
  /// there is room for on the disk (kMemoryBudget), what SessionStore::save refuses, an engine that stops. Others that
  /// save wait.
  Result<SessionSummary> save(std::string_view space, std::span<const int32_t> tokens);

  /// Brings a session into the cache of a namespace. Errors say why it can't be used: what SessionStore::open_session
  /// and SessionFile::load refuse, token ids outside the vocabulary (kCorrupt), more pages than the store has
  /// (kMemoryBudget) or than requests that run leave (kUnavailable), an engine that stops. Those cost no cached page.
  Result<SessionSummary> restore(const SessionId& id, std::string_view space);

  std::vector<SessionSummary> list() const { return store_->list(); }

  /// Errors: as SessionStore::erase.
  Result<void> erase(const SessionId& id);

 private:
  struct Held;
  class DiskShare;
  template <class Work>
  Result<void> on_engine(const Work& work);
  void hold(std::string_view space, std::span<const int32_t> tokens, Held& held);
  Result<SessionId> write(std::span<const int32_t> tokens, const Held& held);
  Result<void> check_size(const SessionId& id, std::span<const PrefixGap> needed) const;
  Result<void> check_parts(const SessionFile& file, std::span<const PrefixGap> needed) const;
  void share_disk();

  PrefixCache& cache_;
  PrefixTiers& tiers_;
  std::unique_ptr<SessionStore> store_;
  const uint64_t disk_bytes_;
  const int32_t n_vocab_;
  const EnginePost post_;
  std::mutex saving_;  ///< held by who saves: one at a time
  std::mutex sharing_;
  uint64_t reserved_bytes_ = 0;  ///< of a file that is being written; guarded by sharing_
};

}  // namespace ferrox
