// Do conversations come back as they were, and is one that can't be used refused with the reason?
#include "tier/session_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "support/file_bytes.h"
#include "support/temp_folder.h"
#include "tier/folder.h"
#include "tier_rig.h"

namespace ferrox {
namespace {

using testing::Parts;

/// Ten tokens on pages of four: two whole pages, of which the first lost its window part, a tail, and a state.
class SessionStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<SessionStore> open(uint64_t budget_bytes = 1 << 20) {
    return std::move(*SessionStore::open(layout_, folder_ / "sessions", budget_bytes));
  }

  std::vector<SessionSource> sources() const {
    std::vector<SessionSource> out;
    for (const SessionPart& part : parts_) {
      out.push_back({part, memory_[static_cast<size_t>(part.page)].sources()[static_cast<size_t>(part.part)].pieces});
    }
    return out;
  }

  Result<void> load(const SessionFile& session, std::span<const SessionPart> parts) {
    std::vector<Parts> memory;
    for (size_t page = 0; page < memory_.size(); ++page) memory.emplace_back(layout_, 7);
    std::vector<std::vector<PartTarget>> lists;
    for (const Parts& page : memory) lists.push_back(page.targets());
    std::vector<SessionTarget> targets;
    for (const SessionPart& part : parts) {
      targets.push_back({part, lists[static_cast<size_t>(part.page)][static_cast<size_t>(part.part)].pieces});
    }
    const auto done = session.load(targets, pool_);
    if (!done) return done;
    for (const SessionPart& part : parts) {
      const auto page = static_cast<size_t>(part.page);
      EXPECT_EQ(memory[page].part(part.part), memory_[page].part(part.part));
    }
    return done;
  }

  std::string refusal(const SessionId& id) {
    const auto session = open()->open_session(id);
    if (!session) return session.error().message;
    const auto done = load(*session, parts_);
    return done ? "" : done.error().message;
  }

  std::filesystem::path file_of(const SessionId& id) { return folder_ / "sessions" / (to_hex(id) + ".session1"); }

  testing::TempFolder folder_;
  ThreadPool pool_{2};
  TierLayout layout_ = testing::small_layout();
  std::vector<int32_t> tokens_{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<SessionPart> parts_{{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {2, 2}};
  std::vector<Parts> memory_ = [this] {
    std::vector<Parts> pages;
    for (const char* seed : {"0", "1", "2"}) pages.emplace_back(layout_, 7, testing::test_root(seed));
    return pages;
  }();
};

TEST_F(SessionStoreTest, ComesBackOverARestart) {
  const auto id = open()->save(tokens_, 9, sources(), std::nullopt);
  ASSERT_TRUE(id);
  const auto store = open();
  const auto session = store->open_session(*id);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(std::vector<int32_t>(session->tokens().begin(), session->tokens().end()), tokens_);
  EXPECT_EQ(session->n_rows(), 9);
  EXPECT_EQ(std::vector<SessionPart>(session->parts().begin(), session->parts().end()), parts_);
  EXPECT_TRUE(load(*session, parts_));
  EXPECT_TRUE(load(*session, std::span(parts_).subspan(2, 2)));
  const SessionPart absent{0, 1};
  EXPECT_EQ(load(*session, std::span(&absent, 1)).error().message,
            fmt::format("session {}: page 0: part 1 wasn't saved", to_hex(*id)));
  EXPECT_EQ(store->size_bytes(), store->file_bytes(tokens_.size(), parts_));
  EXPECT_EQ(store->size_bytes(), std::filesystem::file_size(file_of(*id)));
}

TEST_F(SessionStoreTest, ListsSavesOverAndErases) {
  const auto store = open();
  const auto first = store->save(tokens_, 10, sources(), std::nullopt);
  const auto all = sources();
  const auto second = store->save(std::span(tokens_).first(4), 4, std::span(all).first(1), std::nullopt);
  ASSERT_TRUE(first && second);
  testing::write_file(folder_ / "sessions" / "notes.txt", "not a session");
  ASSERT_EQ(store->list().size(), 2u);
  const auto over = store->save(std::span(tokens_).first(5), 5, {}, *first);
  ASSERT_TRUE(over);
  EXPECT_EQ(*over, *first);
  std::set<int64_t> lengths;
  for (const auto& summary : store->list()) lengths.insert(summary.n_tokens);
  EXPECT_EQ(lengths, (std::set<int64_t>{4, 5}));
  EXPECT_TRUE(store->erase(*first));
  EXPECT_EQ(store->erase(*first).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_EQ(store->open_session(*first).error().message, "session " + to_hex(*first) + ": no such session");
  EXPECT_EQ(store->save(tokens_, 1, {}, *first).error().code, ErrorCode::kNotFound);
}

TEST_F(SessionStoreTest, TheBudgetIsKeptToTheByte) {
  const uint64_t one = open()->file_bytes(tokens_.size(), parts_);
  const auto store = open(2 * one - 1);
  const auto id = store->save(tokens_, 10, sources(), std::nullopt);
  ASSERT_TRUE(id);
  const auto refused = store->save(tokens_, 10, sources(), std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kMemoryBudget);
  EXPECT_NE(refused.error().message.find("budget"), std::string::npos);
  EXPECT_FALSE(store->save(tokens_, 10, sources(), *id));  // both are there while the new one is written
  EXPECT_EQ(refusal(*id), "");
  EXPECT_TRUE(open(2 * one)->save(tokens_, 10, sources(), std::nullopt));
  EXPECT_EQ(testing::files_in(folder_ / "sessions", "tmp1").size(), 0u);
}

TEST_F(SessionStoreTest, AnotherModelOrLayoutSaysSo) {
  const auto id = open()->save(tokens_, 10, sources(), std::nullopt);
  ASSERT_TRUE(id);
  layout_.model.bytes[0] ^= 1;
  EXPECT_NE(refusal(*id).find("rows of this model"), std::string::npos) << refusal(*id);
  ASSERT_EQ(open()->list().size(), 1u);
  EXPECT_EQ(open()->list()[0].state, SessionState::kOtherModel);
  EXPECT_EQ(open()->list()[0].n_tokens, 10);
  layout_ = testing::small_layout();
  layout_.part_bytes[0] = 97;
  EXPECT_NE(refusal(*id).find("part 0: expected 97 bytes, found 96"), std::string::npos) << refusal(*id);
  layout_ = testing::small_layout();
  layout_.page_rows = 5;
  EXPECT_NE(refusal(*id).find("pages of 5 rows, found 4"), std::string::npos) << refusal(*id);
  layout_ = testing::small_layout();
  EXPECT_EQ(refusal(*id), "");
}

TEST_F(SessionStoreTest, DamageAtEveryByteAndEveryLengthSaysSo) {
  const auto id = open()->save(tokens_, 10, sources(), std::nullopt);
  ASSERT_TRUE(id);
  const std::string good = testing::read_file(file_of(*id));
  for (size_t i = 0; i < 2 * good.size() + 20; ++i) {
    std::string bad = good;
    if (i < good.size()) {
      bad[i] ^= 0x20;
    } else {
      bad.resize(i - good.size(), 'x');
      if (bad.size() == good.size()) continue;
    }
    testing::write_file(file_of(*id), bad);
    const std::string why = refusal(*id);
    ASSERT_TRUE(why.starts_with("session " + to_hex(*id) + ": ")) << i << why;
  }
  testing::write_file(file_of(*id), good);
  EXPECT_EQ(refusal(*id), "");
}

// What takes bytes of the budget can be seen and erased, however damaged it is.
TEST_F(SessionStoreTest, EveryFileThatCountsIsListedAndCanBeErased) {
  const auto id = open()->save(tokens_, 10, sources(), std::nullopt);
  ASSERT_TRUE(id);
  EXPECT_EQ(open()->list()[0].state, SessionState::kSaved);
  const std::string good = testing::read_file(file_of(*id));
  for (size_t n = 0; n < good.size(); ++n) {
    for (const std::string& bytes : {good.substr(0, n), std::string(n, '\0')}) {
      testing::write_file(file_of(*id), bytes);
      const auto store = open(good.size());
      const auto list = store->list();
      ASSERT_EQ(list.size(), 1u) << n;
      EXPECT_EQ(list[0].id, *id);
      EXPECT_EQ(list[0].size_bytes, n);
      EXPECT_EQ(list[0].state, SessionState::kDamaged);
      EXPECT_EQ(list[0].n_tokens, 0);
      EXPECT_EQ(store->size_bytes(), n);
      ASSERT_TRUE(store->erase(*id)) << n;
      EXPECT_EQ(store->size_bytes(), 0u);
    }
  }
  EXPECT_TRUE(open(good.size())->save(tokens_, 10, sources(), std::nullopt));
}

TEST_F(SessionStoreTest, ARenamedOrForeignFileIsLeftAlone) {
  const auto id = open()->save(tokens_, 10, sources(), std::nullopt);
  ASSERT_TRUE(id);
  const SessionId other = new_session_id();
  std::filesystem::rename(file_of(*id), file_of(other));
  EXPECT_NE(refusal(other).find("it is that of session " + to_hex(*id)), std::string::npos) << refusal(other);
  ASSERT_EQ(open()->list().size(), 1u);
  EXPECT_EQ(open()->list()[0].state, SessionState::kDamaged);
  EXPECT_TRUE(open()->erase(other));
  testing::write_file(file_of(*id), "somebody's");
  EXPECT_TRUE(open()->list().empty());
  EXPECT_EQ(open()->size_bytes(), 0u) << "what can't be erased isn't counted";
  EXPECT_NE(refusal(*id).find("expected a file of ferrox"), std::string::npos);
  EXPECT_EQ(open()->erase(*id).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(open()->save(tokens_, 10, sources(), *id).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(testing::read_file(file_of(*id)), "somebody's");
}

// S11: an id is 32 digits and nothing else, so that none can be a path.
TEST_F(SessionStoreTest, IdsAreRandomAndReadStrictly) {
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const SessionId id = new_session_id();
    EXPECT_TRUE(seen.insert(to_hex(id)).second);
    EXPECT_EQ(*parse_session_id(to_hex(id)), id);
  }
  const std::string good = *seen.begin();
  for (const std::string& bad : std::vector<std::string>{
           std::string(), good.substr(1), good + "0", "../" + good.substr(3), "/etc/passwd", std::string("a\0b", 3),
           std::string(32, 'A'), std::string(31, '0') + "/", std::string(31, '0') + std::string(1, '\0'),
           std::string(1'000, '0'), std::string("con"), good.substr(0, 31) + "g"}) {
    const auto id = parse_session_id(bad);
    ASSERT_FALSE(id) << bad;
    EXPECT_EQ(id.error().code, ErrorCode::kInvalidArgument);
    EXPECT_LT(id.error().message.size(), 200u);
  }
}

TEST_F(SessionStoreTest, AnotherProcessThatSavesIsNamed) {
  const auto store = open();
  auto writer = std::move(*Folder::open(folder_ / "sessions"));
  ASSERT_TRUE(writer.lock());
  const Error busy = store->save(tokens_, 10, sources(), std::nullopt).error();
  EXPECT_EQ(busy.code, ErrorCode::kUnavailable);
  EXPECT_NE(busy.message.find("another process writes here"), std::string::npos) << busy.message;
  writer.unlock();
  EXPECT_TRUE(store->save(tokens_, 10, sources(), std::nullopt));
}

TEST_F(SessionStoreTest, AFolderThatWasRemovedIsNamed) {
  const auto store = open();
  const auto id = store->save(tokens_, 10, sources(), std::nullopt);
  ASSERT_TRUE(id);
  std::filesystem::remove_all(folder_ / "sessions");
  const Error gone = store->save(tokens_, 10, sources(), std::nullopt).error();
  EXPECT_EQ(gone.code, ErrorCode::kIo);
  EXPECT_EQ(gone.message, fmt::format("sessions: {}: the folder was removed; the next start makes it again",
                                      (folder_ / "sessions").string()));
  EXPECT_EQ(store->open_session(*id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store->list().empty());
  EXPECT_TRUE(open()->save(tokens_, 10, sources(), std::nullopt)) << "the next start";
}

TEST_F(SessionStoreTest, ALockThatCantBeMadeIsntAnotherProcess) {
  const auto store = open();
  std::filesystem::remove(folder_ / "sessions" / "writer.lock");
  std::filesystem::create_directory(folder_ / "sessions" / "writer.lock");
  const Error refused = store->save(tokens_, 10, sources(), std::nullopt).error();
  EXPECT_EQ(refused.code, ErrorCode::kIo);
  EXPECT_NE(refused.message.find("writer.lock: can't make: Is a directory"), std::string::npos) << refused.message;
}

}  // namespace
}  // namespace ferrox
