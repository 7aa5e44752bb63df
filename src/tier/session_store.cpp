#include "tier/session_store.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "tier/file_io.h"
#include "tier/folder.h"
#include "tier/session_file.h"

namespace ferrox {
namespace {

int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The same error, by the session's name.
Error of_session(const SessionId& id, const Error& why) {
  if (why.code == ErrorCode::kNotFound) return make_error(why.code, "session {}: no such session", to_hex(id));
  return make_error(why.code, "session {}: {}", to_hex(id), why.message);
}

template <class Pieces>
uint64_t bytes_of(const Pieces& pieces) {
  uint64_t bytes = 0;
  for (const auto piece : pieces) bytes += piece.size();
  return bytes;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------- restoring

struct SessionFile::State {
  Descriptor file;
  SessionHeader header;
  std::vector<uint64_t> offsets;  ///< in the file, of each part

  Result<void> read(const SessionTarget& target) const {
    const auto at = std::lower_bound(header.parts.begin(), header.parts.end(), target.part);
    if (at == header.parts.end() || *at != target.part) {
      return make_error(ErrorCode::kCorrupt, "page {}: part {} wasn't saved", target.part.page, target.part.part);
    }
    const auto i = static_cast<size_t>(at - header.parts.begin());
    TRY(read_pieces(file.fd(), offsets[i], target.pieces));
    ChecksumStream sum;
    for (const auto piece : target.pieces) sum.add(piece);
    if (sum.take() == header.checksums[i]) return {};
    return make_error(ErrorCode::kCorrupt, "page {}: part {}: its checksum is wrong", target.part.page,
                      target.part.part);
  }
};

SessionFile::SessionFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionFile::SessionFile(SessionFile&&) noexcept = default;
SessionFile& SessionFile::operator=(SessionFile&&) noexcept = default;
SessionFile::~SessionFile() = default;

std::span<const int32_t> SessionFile::tokens() const { return state_->header.tokens; }
int64_t SessionFile::n_rows() const { return state_->header.n_rows; }
std::span<const SessionPart> SessionFile::parts() const { return state_->header.parts; }

Result<void> SessionFile::load(std::span<const SessionTarget> targets, ThreadPool& pool) const {
  const SessionHeader& header = state_->header;
  for (const SessionTarget& target : targets) {
    CHECK(target.part.part >= 0 && target.part.part < header.layout.n_parts(), "parts are the layout's");
    CHECK(bytes_of(target.pieces) == header.layout.part_bytes[static_cast<size_t>(target.part.part)],
          "pieces make up a part");
  }
  std::mutex mutex;
  std::optional<Error> first;
  pool.run(static_cast<int64_t>(targets.size()), [&](int64_t i, int) {
    const auto done = state_->read(targets[static_cast<size_t>(i)]);
    if (done) return;
    const std::lock_guard lock(mutex);
    if (!first) first = done.error();
  });
  if (first) return of_session(header.id, *first);
  return {};
}

// ------------------------------------------------------------------------------------------------------------- saving

struct SessionStore::State {
  TierLayout layout;
  uint64_t budget_bytes;
  mutable std::mutex mutex;  ///< of the folder's lock
  Folder folder;

  /// Sums of the parts, which are written on the way.
  Result<std::vector<Checksum>> write_parts(int fd, std::span<const SessionSource> parts) const {
    std::vector<Checksum> sums;
    ChecksumStream sum;
    for (const SessionSource& source : parts) {
      TRY(write_pieces(fd, source.pieces));
      for (const auto piece : source.pieces) sum.add(piece);
      sums.push_back(sum.take());
    }
    return sums;
  }

  /// Parts first, since the header has their sums.
  Result<void> write(int fd, SessionHeader& header, std::span<const SessionSource> parts) const {
    const uint64_t header_bytes = session_header_bytes(layout.n_parts(), header.tokens.size(), header.parts.size());
    if (::lseek(fd, static_cast<off_t>(header_bytes), SEEK_SET) < 0) return system_error("file", "seek");
    TRY_ASSIGN(header.checksums, write_parts(fd, parts));
    return write_bytes_at(fd, 0, encode_session_header(header));
  }

  /// A file that may be overwritten or removed, and counts: any session, damaged or not.
  Result<Descriptor> open_ours(const SessionId& id) const {
    TRY_ASSIGN(Descriptor file, folder.open_file(session_file_name(id)));
    if (is_file_of(file.fd(), kSessionMagic)) return file;
    return make_error(ErrorCode::kUnsupported, "expected a file of ferrox, found another");
  }

  /// visit(id, its open file, what the folder says of it) for each of ours.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const auto files = folder.files();
    if (!files) return;
    for (const FolderFile& file : *files) {
      const auto id = parse_session_file_name(file.name);
      if (!id) continue;
      if (const auto opened = open_ours(*id)) visit(*id, *opened, file);
    }
  }

  uint64_t size_bytes() const {
    uint64_t sum = 0;
    for_each([&sum](const SessionId&, const Descriptor&, const FolderFile& file) { sum += file.size_bytes; });
    return sum;
  }

  SessionSummary summary_of(const SessionId& id, const Descriptor& opened, const FolderFile& file) const {
    SessionSummary out{.id = id,
                       .size_bytes = file.size_bytes,
                       .n_tokens = 0,
                       .saved_at_s = static_cast<int64_t>(file.modified_s),
                       .state = SessionState::kDamaged};
    const auto header = read_session_header(opened.fd());
    if (!header || header->id != id) return out;
    out.n_tokens = static_cast<int64_t>(header->tokens.size());
    out.saved_at_s = header->saved_at_s;
    out.state = header->layout == layout ? SessionState::kSaved : SessionState::kOtherModel;
    return out;
  }
};

SessionStore::SessionStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionStore::~SessionStore() = default;

Result<std::unique_ptr<SessionStore>> SessionStore::open(const TierLayout& layout, const std::filesystem::path& folder,
                                                         uint64_t budget_bytes) {
  TRY(validate_tier_layout(layout));
  TRY_ASSIGN(Folder opened, Folder::open(folder));
  if (opened.lock()) opened.unlock();  // swept; a process that holds it is writing
  auto state = std::unique_ptr<State>(new State{layout, budget_bytes, {}, std::move(opened)});
  return std::unique_ptr<SessionStore>(new SessionStore(std::move(state)));
}

uint64_t SessionStore::file_bytes(size_t n_tokens, std::span<const SessionPart> parts) const {
  uint64_t bytes = session_header_bytes(state_->layout.n_parts(), n_tokens, parts.size());
  for (const SessionPart& part : parts) bytes += state_->layout.part_bytes[static_cast<size_t>(part.part)];
  return bytes;
}

Result<SessionId> SessionStore::save(std::span<const int32_t> tokens, int64_t n_rows,
                                     std::span<const SessionSource> parts, const std::optional<SessionId>& over) {
  CHECK(n_rows >= 0 && n_rows <= static_cast<int64_t>(tokens.size()), "rows are of tokens");
  SessionHeader header{.layout = state_->layout,
                       .id = over.value_or(new_session_id()),
                       .n_rows = n_rows,
                       .saved_at_s = now_s(),
                       .tokens = {tokens.begin(), tokens.end()},
                       .parts = {},
                       .checksums = {}};
  for (const SessionSource& source : parts) {
    CHECK(header.parts.empty() || header.parts.back() < source.part, "parts ascend");
    CHECK(bytes_of(source.pieces) == state_->layout.part_bytes.at(static_cast<size_t>(source.part.part)),
          "pieces make up a part");
    header.parts.push_back(source.part);
  }
  if (over) {
    if (const auto ours = state_->open_ours(*over); !ours) return of_session(*over, ours.error());
  }
  const std::lock_guard lock(state_->mutex);
  if (const auto locked = state_->folder.lock(); !locked) {
    return make_error(locked.error().code, "sessions: {}", locked.error().message);
  }
  const uint64_t file_bytes_now = state_->size_bytes();
  const uint64_t new_bytes = file_bytes(tokens.size(), header.parts);
  Result<void> done;
  if (file_bytes_now + new_bytes > state_->budget_bytes) {
    done = make_error(ErrorCode::kMemoryBudget, "sessions: {} are kept, {} more than the budget of {} has room for",
                      format_bytes(file_bytes_now), format_bytes(new_bytes), format_bytes(state_->budget_bytes));
  } else {
    done = state_->folder.write_beside(session_file_name(header.id), static_cast<double>(header.saved_at_s),
                                       over ? Existing::kReplaced : Existing::kKept,
                                       [&](int fd) { return state_->write(fd, header, parts); });
  }
  state_->folder.unlock();
  if (!done) return done.error();
  return header.id;
}

Result<SessionFile> SessionStore::open_session(const SessionId& id) const {
  const auto opened = [&]() -> Result<SessionFile> {
    auto state = std::make_unique<SessionFile::State>();
    TRY_ASSIGN(state->file, state_->open_ours(id));
    auto read = read_session_header(state->file.fd());
    if (!read && read.error().code == ErrorCode::kUnsupported) {
      return make_error(ErrorCode::kCorrupt, "its first bytes are lost");
    }
    TRY_ASSIGN(state->header, std::move(read));
    const SessionHeader& header = state->header;
    if (header.id != id) return make_error(ErrorCode::kCorrupt, "it is that of session {}", to_hex(header.id));
    TRY(expect_layout(header.layout, state_->layout));
    uint64_t offset = session_header_bytes(header.layout.n_parts(), header.tokens.size(), header.parts.size());
    for (const SessionPart& part : header.parts) {
      state->offsets.push_back(offset);
      offset += header.layout.part_bytes[static_cast<size_t>(part.part)];
    }
    return SessionFile(std::move(state));
  };
  auto file = opened();
  if (!file) return of_session(id, file.error());
  return file;
}

std::vector<SessionSummary> SessionStore::list() const {
  std::vector<SessionSummary> out;
  state_->for_each([&](const SessionId& id, const Descriptor& opened, const FolderFile& file) {
    out.push_back(state_->summary_of(id, opened, file));
  });
  std::sort(out.begin(), out.end(), [](const SessionSummary& a, const SessionSummary& b) {
    return a.saved_at_s != b.saved_at_s ? a.saved_at_s > b.saved_at_s : a.id.bytes < b.id.bytes;
  });
  return out;
}

Result<void> SessionStore::erase(const SessionId& id) {
  if (const auto ours = state_->open_ours(id); !ours) return of_session(id, ours.error());
  if (state_->folder.remove(session_file_name(id))) return {};
  return of_session(id, system_error("file", "remove"));
}

uint64_t SessionStore::size_bytes() const { return state_->size_bytes(); }
uint64_t SessionStore::budget_bytes() const { return state_->budget_bytes; }

}  // namespace ferrox
