// How does a conversation survive a restart? As one file under a random id: its tokens, the parts of its pages, states.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "tier/tier_entry.h"

namespace ferrox {

/// 128 random bits, written as 32 hexadecimal digits in lower case. Nothing else is ever made part of a path.
struct SessionId {
  std::array<uint8_t, 16> bytes{};
  friend bool operator==(const SessionId&, const SessionId&) = default;
};
SessionId new_session_id();
std::string to_hex(const SessionId& id);

/// Errors: anything but 32 digits 0-9 a-f.
Result<SessionId> parse_session_id(std::string_view hex);

/// One part of one page of a session; a state's page is the one that its last token lies in.
struct SessionPart {
  int32_t page;
  int part;
  friend auto operator<=>(const SessionPart&, const SessionPart&) = default;
};

struct SessionSource {
  SessionPart part;
  std::span<const std::span<const std::byte>> pieces;
};

struct SessionTarget {
  SessionPart part;
  std::span<const std::span<std::byte>> pieces;
};

enum class SessionState {
  kSaved,       ///< of this model, by its description; its rows are read by a restore
  kOtherModel,  ///< of another model or layout: a process that has that one restores it
  kDamaged,     ///< nobody restores it: cut short, changed, or renamed
};

struct SessionSummary {
  SessionId id;
  uint64_t size_bytes;
  int64_t n_tokens;    ///< 0 where it is damaged
  int64_t saved_at_s;  ///< seconds since 1970
  SessionState state = SessionState::kSaved;
};

/// A session that is being restored: its description is read and checked, its parts aren't yet.
class SessionFile {
 public:
  SessionFile(SessionFile&&) noexcept;
  SessionFile& operator=(SessionFile&&) noexcept;
  ~SessionFile();

  std::span<const int32_t> tokens() const;
  int64_t n_rows() const;  ///< rows computed: tokens, or fewer
  std::span<const SessionPart> parts() const;

  /// Reads the wanted parts straight into memory, over the pool's threads. Errors: a part that the file lacks, bytes
  /// that aren't what was saved; then the targets hold anything.
  Result<void> load(std::span<const SessionTarget> targets, ThreadPool& pool) const;

 private:
  friend class SessionStore;
  struct State;
  explicit SessionFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Safe from any thread.
class SessionStore {
 public:
  /// Makes the folder and sweeps what killed writers left. Errors: an invalid layout, a folder that can't be made.
  static Result<std::unique_ptr<SessionStore>> open(const TierLayout& layout, const std::filesystem::path& folder,
                                                    uint64_t budget_bytes);
  ~SessionStore();

  /// Bytes of the file that this would be.
  uint64_t file_bytes(size_t n_tokens, std::span<const SessionPart> parts) const;

  /// Writes a session beside and renames it, under a fresh id or over the one given. Parts ascend, and pieces have the
  /// layout's bytes (CHECKed). Errors: more than the budget leaves beside what is there (kMemoryBudget), another
  /// process that saves here (kUnavailable), a folder that is gone, a file of that id that isn't ours, what the system
  /// refuses. What was there stays then.
  Result<SessionId> save(std::span<const int32_t> tokens, int64_t n_rows, std::span<const SessionSource> parts,
                         const std::optional<SessionId>& over);

  /// Errors say why it can't be used: no such session, another model, another layout, another version, damage.
  Result<SessionFile> open_session(const SessionId& id) const;

  /// Every file that counts against the budget, newest first: of any model, damaged ones as well.
  std::vector<SessionSummary> list() const;

  /// Any of those. Errors: no such session, a file that isn't ours.
  Result<void> erase(const SessionId& id);

  uint64_t size_bytes() const;  ///< of all files that are ours
  uint64_t budget_bytes() const;

 private:
  struct State;
  explicit SessionStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ferrox
