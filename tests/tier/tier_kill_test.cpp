// Does a folder stay whole when its writer is killed at any moment? A child writes, dies, and the folder is looked
// through.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <utility>

#include "support/file_bytes.h"
#include "support/temp_folder.h"
#include "tier/session_store.h"
#include "tier_rig.h"

namespace ferrox {
namespace {

using testing::load;
using testing::put;
using testing::TestEntry;

constexpr int kChains = 12;
constexpr int kPagesPerChain = 10;
constexpr uint64_t kBudget = 2'500'000;

/// Files large enough that a kill finds them half written.
TierLayout layout() { return {.model = testing::test_root("kill"), .page_rows = 4, .part_bytes = {60'000, 9'000}}; }

std::unique_ptr<PrefixTiers> open_tiers(const std::filesystem::path& folder) {
  TierOptions options;
  options.disk_folder = folder;
  options.disk_bytes = kBudget;
  return std::move(*PrefixTiers::open(layout(), options));
}

std::vector<TestEntry> chain(int i) { return testing::chain_of(testing::test_root(), i, kPagesPerChain); }

/// A session's tokens and parts follow from its number of tokens.
struct TestSession {
  explicit TestSession(size_t n_tokens) : tokens(n_tokens, 5), page(testing::page_after(testing::test_root(), 1)) {}
  std::vector<int32_t> tokens;
  TestEntry page;
  testing::Parts parts{layout(), 3, page.key};
};

/// Writes and rewrites until it is killed; a byte into `told` says that the first pages are written.
[[noreturn]] void write_forever(const std::filesystem::path& folder, uint32_t seed, int told) {
  std::minstd_rand random(seed);
  const auto tiers = open_tiers(folder);
  const auto sessions = std::move(*SessionStore::open(layout(), folder / "sessions", kBudget));
  for (;;) {
    for (const TestEntry& page : chain(static_cast<int>(random() % kChains))) put(*tiers, page, 1 + 2 * (random() % 2));
    const TestSession session(1 + random() % 4);
    const auto list = sessions->list();
    const SessionSource source{{0, 0}, session.parts.sources()[0].pieces};
    const auto over = list.empty() ? std::nullopt : std::optional(list.front().id);
    (void)sessions->save(session.tokens, 1, std::span(&source, 1), over);
    if (told < 0) continue;
    tiers->flush();
    (void)!::write(std::exchange(told, -1), "w", 1);
  }
}

void expect_whole(const std::filesystem::path& folder, uint64_t& n_good) {
  const auto tiers = open_tiers(folder);
  tiers->flush();
  tiers->check_integrity();
  ASSERT_EQ(tiers->stats().disk.bytes, testing::stored_bytes(folder));
  ASSERT_LE(tiers->stats().disk.bytes, kBudget);
  for (int i = 0; i < kChains; ++i) {
    const auto pages = chain(i);
    const auto found = tiers->find(testing::keys_of(pages));
    for (size_t k = 0; k < found.size(); ++k) {
      ASSERT_EQ(load(*tiers, pages[k], found[k]), LoadOutcome::kGood);
      ++n_good;
    }
  }
  ThreadPool pool(1);
  const auto sessions = std::move(*SessionStore::open(layout(), folder / "sessions", kBudget));
  ASSERT_EQ(testing::files_in(folder / "sessions", "tmp1").size(), 0u);
  ASSERT_EQ(sessions->list().size(), testing::files_in(folder / "sessions", "session1").size());
  for (const SessionSummary& summary : sessions->list()) {
    const auto session = sessions->open_session(summary.id);
    ASSERT_TRUE(session) << session.error().message;
    const testing::Parts parts(layout(), 1);
    const SessionTarget target{{0, 0}, parts.targets()[0].pieces};
    ASSERT_TRUE(session->load(std::span(&target, 1), pool));
    ASSERT_TRUE(parts.are_of(layout(), testing::page_after(testing::test_root(), 1).key));
  }
}

TEST(TierKill, AKilledWriterLeavesWholeFiles) {
  const char* const wanted = std::getenv("FERROX_TIER_KILLS");
  const int n_kills = wanted == nullptr ? 200 : std::atoi(wanted);
  const testing::TempFolder folder;
  std::minstd_rand random(7);
  int n_half_written = 0;
  uint64_t n_good = 0;
  for (int i = 0; i < n_kills; ++i) {
    int told[2];
    ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_forever(folder.path(), static_cast<uint32_t>(i + 1), told[1]);
    ::close(told[1]);
    char byte;
    if (i % 4 != 0) {  // the others may be killed while they open the folder
      ASSERT_EQ(::read(told[0], &byte, 1), 1);
    }
    ::usleep(static_cast<useconds_t>(500 + random() % 8'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ::close(told[0]);
    ASSERT_TRUE(WIFSIGNALED(status));
    n_half_written += !testing::files_in(folder.path(), "tmp1").empty() ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(expect_whole(folder.path(), n_good)) << "kill " << i;
  }
  std::printf("%d kills, %d of them while a page was half written; %llu pages were found afterwards, all good\n",
              n_kills, n_half_written, static_cast<unsigned long long>(n_good));
  EXPECT_GT(n_good, static_cast<uint64_t>(n_kills));
}

}  // namespace
}  // namespace ferrox
