// Do prefixes come back from memory and from the disk, over restarts, through damage and under pressure?
#include "tier/prefix_tiers.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/sink.h>
#include <sys/resource.h>

#include <csignal>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "base/log.h"
#include "support/file_bytes.h"
#include "support/gate.h"
#include "support/hanging_disk.h"
#include "support/temp_folder.h"
#include "tier_rig.h"

namespace ferrox {
namespace {

using testing::kBothKinds;
using testing::kStatePart;
using testing::load;
using testing::put;
using testing::TestEntry;

constexpr size_t kPageFile = 368;  // of small_layout, both kinds

class PrefixTiersTest : public ::testing::Test {
 protected:
  std::unique_ptr<PrefixTiers> open(uint64_t host_bytes, uint64_t disk_bytes) {
    TierOptions options;
    options.host_bytes = host_bytes;
    options.disk_folder = disk_bytes == 0 ? std::filesystem::path() : folder_.path();
    options.disk_bytes = disk_bytes;
    options.staging_bytes = staging_bytes_;
    options.half_life_s = 100;
    options.clock_s = [this] { return now_s_.load(); };
    auto tiers = PrefixTiers::open(testing::small_layout(), options);
    EXPECT_TRUE(tiers) << tiers.error().message;
    return std::move(*tiers);
  }

  /// Puts and waits until it is written.
  void put_all(PrefixTiers& tiers, std::span<const TestEntry> entries, PartMask mask = kBothKinds) {
    for (const TestEntry& entry : entries) EXPECT_EQ(put(tiers, entry, mask), PutOutcome::kStored);
    tiers.flush();
  }

  /// The folder holds what is counted, and no more than it may.
  void expect_books(PrefixTiers& tiers) {
    tiers.flush();
    tiers.check_integrity();
    const TierStats disk = tiers.stats().disk;
    EXPECT_EQ(disk.bytes, testing::stored_bytes(folder_.path()));
    EXPECT_LE(disk.bytes, disk.budget_bytes);
  }

  testing::TempFolder folder_;
  uint64_t staging_bytes_ = 1 << 20;
  std::atomic<double> now_s_ = 1.7e9;
};

// M3: with no bytes for memory and none for files nothing is stored, nor looked for.
TEST_F(PrefixTiersTest, NothingIsStoredWithoutBytes) {
  const auto tiers = open(0, 0);
  EXPECT_FALSE(tiers->stores_anything());
  const auto page = testing::page_after(testing::test_root(), 1);
  EXPECT_EQ(put(*tiers, page), PutOutcome::kDropped);
  EXPECT_TRUE(tiers->find(std::span(&page.key, 1)).empty());
  EXPECT_EQ(load(*tiers, page), LoadOutcome::kAbsent);
  EXPECT_FALSE(tiers->find_state(std::span(&page.parent, 1), page.tokens, 4));
  EXPECT_EQ(tiers->staging_room(), 0u);
  tiers->flush();
  tiers->set_disk_budget(5);
  const auto stats = tiers->stats();
  EXPECT_EQ(stats.host.bytes + stats.host.n_entries + stats.disk.bytes + stats.staged_bytes, 0u);
}

TEST_F(PrefixTiersTest, FindsAndLoadsFromMemory) {
  const auto tiers = open(1 << 16, 0);
  EXPECT_TRUE(tiers->stores_anything());
  auto pages = testing::chain_of(testing::test_root(), 1, 5);
  put_all(*tiers, std::span(pages).first(3));
  EXPECT_EQ(put(*tiers, pages[0]), PutOutcome::kHeld);
  const auto keys = testing::keys_of(pages);
  EXPECT_EQ(tiers->peek(keys), std::vector<PartMask>(3, kBothKinds));
  EXPECT_EQ(tiers->stats().host.n_hits, 0u);
  EXPECT_EQ(tiers->find(keys), std::vector<PartMask>(3, kBothKinds));
  EXPECT_EQ(tiers->stats().host.n_hits, 3u);
  EXPECT_EQ(tiers->stats().host.n_misses, 1u);
  EXPECT_TRUE(tiers->find(std::span(keys).last(2)).empty());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(load(*tiers, pages[static_cast<size_t>(i)]), LoadOutcome::kGood);
  EXPECT_EQ(load(*tiers, pages[0], 2), LoadOutcome::kGood);
  EXPECT_EQ(load(*tiers, pages[0], 7), LoadOutcome::kAbsent);
  EXPECT_EQ(load(*tiers, pages[3]), LoadOutcome::kAbsent);
  EXPECT_EQ(tiers->stats().host.n_loaded, 4u);
  EXPECT_EQ(tiers->stats().host.bytes_loaded, 3u * 136 + 40);
}

TEST_F(PrefixTiersTest, FindsAndLoadsFromDiskOverARestart) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 4);
  {
    const auto tiers = open(0, 1 << 20);
    put_all(*tiers, pages);
    EXPECT_EQ(put(*tiers, pages[2]), PutOutcome::kHeld);
    EXPECT_EQ(load(*tiers, pages[1]), LoadOutcome::kGood);
    expect_books(*tiers);
    EXPECT_EQ(testing::stored_bytes(folder_.path()), 4 * kPageFile);
  }
  const auto tiers = open(0, 1 << 20);
  EXPECT_EQ(tiers->find(testing::keys_of(pages)), std::vector<PartMask>(4, kBothKinds));
  for (const TestEntry& page : pages) EXPECT_EQ(load(*tiers, page), LoadOutcome::kGood);
  expect_books(*tiers);
}

TEST_F(PrefixTiersTest, WhatIsStagedIsWrittenAtTheEnd) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 200);
  {
    const auto tiers = open(0, 1 << 20);
    for (const TestEntry& page : pages) EXPECT_EQ(put(*tiers, page), PutOutcome::kStored);
  }
  EXPECT_EQ(open(0, 1 << 20)->peek(testing::keys_of(pages)).size(), pages.size());
}

TEST_F(PrefixTiersTest, MemoryAndDiskEachGiveWhatTheyHave) {
  const auto page = testing::page_after(testing::test_root(), 1);
  { put_all(*open(0, 1 << 20), std::span(&page, 1), 1); }
  const auto tiers = open(1 << 16, 1 << 20);
  EXPECT_EQ(tiers->peek(std::span(&page.key, 1)), std::vector<PartMask>{1});
  EXPECT_EQ(put(*tiers, page, 2), PutOutcome::kStored);  // to memory: the disk has a page of as many parts
  EXPECT_EQ(tiers->peek(std::span(&page.key, 1)), std::vector<PartMask>{kBothKinds});
  EXPECT_EQ(load(*tiers, page, kBothKinds), LoadOutcome::kGood);
  EXPECT_EQ(tiers->stats().host.bytes_loaded, 40u);
  EXPECT_EQ(tiers->stats().disk.bytes_loaded, 96u);
  EXPECT_EQ(put(*tiers, page, kBothKinds), PutOutcome::kStored);
  expect_books(*tiers);
  EXPECT_EQ(testing::files_in(folder_.path(), "page1").size(), 1u);
}

TEST_F(PrefixTiersTest, StatesAreFoundByTheTokensThatTheyFollow) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 2);
  const std::vector<TestEntry> states{testing::state_after(testing::test_root(), {1'000}),
                                      testing::state_after(pages[0].key, {}),
                                      testing::state_after(pages[1].key, {7, 8})};
  std::vector<int32_t> tokens = pages[0].tokens;
  tokens.insert(tokens.end(), pages[1].tokens.begin(), pages[1].tokens.end());
  tokens.insert(tokens.end(), {7, 8, 9});
  const std::vector<PageKey> keys{testing::test_root(), pages[0].key, pages[1].key};
  { put_all(*open(0, 1 << 20), states, kStatePart); }
  for (const auto& tiers : {open(0, 1 << 20), open(1 << 16, 0)}) {
    if (tiers->stats().host.budget_bytes > 0) put_all(*tiers, states, kStatePart);
    for (const auto& [max_tokens, n_tokens] :
         std::map<int64_t, int64_t>{{99, 10}, {10, 10}, {9, 4}, {4, 4}, {3, 1}, {1, 1}}) {
      const auto match = tiers->find_state(keys, tokens, max_tokens);
      ASSERT_TRUE(match);
      EXPECT_EQ(match->n_tokens, n_tokens);
    }
    EXPECT_FALSE(tiers->find_state(keys, tokens, 0));
    EXPECT_EQ(load(*tiers, states[2], kStatePart), LoadOutcome::kGood);
  }
  const auto tiers = open(1 << 16, 1 << 20);  // memory has a short one, the disk all
  put_all(*tiers, std::span(states).first(1), kStatePart);
  EXPECT_EQ(tiers->find_state(keys, tokens, 99)->n_tokens, 10);
  EXPECT_EQ(tiers->find_state(keys, tokens, 3)->n_tokens, 1);
}

TEST_F(PrefixTiersTest, MorePartsReplaceFewerOnDisk) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 2);
  const auto tiers = open(0, 2 * kPageFile);
  put_all(*tiers, pages, 1);
  put_all(*tiers, pages, kBothKinds);
  EXPECT_EQ(put(*tiers, pages[0], 2), PutOutcome::kHeld);
  EXPECT_EQ(load(*tiers, pages[0]), LoadOutcome::kGood);
  expect_books(*tiers);
  EXPECT_EQ(tiers->stats().disk.n_entries, 2u);
}

// ------------------------------------------------------------------------------------------- files that lie or aren't
// ours

TEST_F(PrefixTiersTest, ADamagedFileIsAMissALineAndGone) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 3);
  { put_all(*open(0, 1 << 20), pages); }
  const auto tiers = open(0, 1 << 20);
  for (const auto& file : testing::files_in(folder_.path(), "page1")) {
    if (!file.filename().string().starts_with(to_hex(pages[1].key))) continue;
    std::string bytes = testing::read_file(file);
    bytes[kPageFile - 5] ^= 1;
    testing::write_file(file, bytes);
  }
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(load(*tiers, pages[1]), LoadOutcome::kDamaged);
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("checksum is wrong; counts as a miss"), std::string::npos) << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(load(*tiers, pages[1]), LoadOutcome::kAbsent);
  EXPECT_EQ(tiers->find(testing::keys_of(pages)).size(), 1u);
  EXPECT_EQ(tiers->stats().disk.n_damaged, 1u);
  EXPECT_EQ(testing::files_in(folder_.path(), "page1").size(), 2u);
  expect_books(*tiers);
  put_all(*tiers, std::span(pages).subspan(1, 1));
  EXPECT_EQ(tiers->find(testing::keys_of(pages)).size(), 3u);
  EXPECT_EQ(load(*tiers, pages[1]), LoadOutcome::kGood);
}

TEST_F(PrefixTiersTest, DamageAtEveryByteAndEveryLengthIsAMiss) {
  const auto page = testing::page_after(testing::test_root(), 1);
  { put_all(*open(0, 1 << 20), std::span(&page, 1)); }
  const auto file = testing::files_in(folder_.path(), "page1").front();
  const std::string good = testing::read_file(file);
  ASSERT_EQ(good.size(), kPageFile);
  ::testing::internal::CaptureStderr();
  for (size_t i = 0; i < 2 * good.size() + 20; ++i) {
    std::string bad = good;
    if (i < good.size()) {
      bad[i] ^= 0x10;
    } else {
      bad.resize(i - good.size(), 'x');
      if (bad.size() == good.size()) continue;
    }
    testing::write_file(file, bad);
    const auto tiers = open(0, 1 << 20);
    ASSERT_EQ(load(*tiers, page), LoadOutcome::kDamaged) << i;
    ASSERT_TRUE(tiers->find(std::span(&page.key, 1)).empty());
    ASSERT_EQ(tiers->stats().disk.bytes, 0u);
    // What doesn't begin as our files do, as far as it goes, is somebody else's.
    const bool is_ours = good.starts_with(bad.substr(0, 8));
    ASSERT_EQ(std::filesystem::exists(file), !is_ours) << i;
  }
  ::testing::internal::GetCapturedStderr();
}

TEST_F(PrefixTiersTest, ForeignFilesAreNeitherReadNorWrittenNorRemoved) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 40);
  const auto name_of = [](const TestEntry& page, PartMask mask) {
    return to_text(file_name_of(*testing::entry_of(testing::small_layout(), page, mask)));
  };
  const std::vector<std::string> foreign{"notes.txt", "a.page1", name_of(pages[0], kBothKinds), name_of(pages[1], 1),
                                         std::string(64, 'a') + "-" + std::string(64, 'b') + "-3-4.page1"};
  for (const std::string& name : foreign) testing::write_file(folder_ / name, "somebody's " + name);
  std::filesystem::create_directory(folder_ / name_of(pages[2], kBothKinds));
  ASSERT_EQ(::mkfifo((folder_ / name_of(pages[3], kBothKinds)).c_str(), 0600), 0);
  std::filesystem::create_symlink(folder_ / "notes.txt", folder_ / name_of(pages[4], kBothKinds));
  ::testing::internal::CaptureStderr();
  {
    const auto tiers = open(0, 5 * kPageFile);
    EXPECT_EQ(load(*tiers, pages[0]), LoadOutcome::kDamaged);
    for (const TestEntry& page : pages) put(*tiers, page);
    tiers->flush();
    for (int seed = 2; seed < 40; ++seed) put(*tiers, testing::chain_of(testing::test_root(), seed, 1)[0]);
    tiers->flush();
    EXPECT_GT(tiers->stats().disk.n_evicted, 10u);
    tiers->check_integrity();
  }
  ::testing::internal::GetCapturedStderr();
  for (const std::string& name : foreign) EXPECT_EQ(testing::read_file(folder_ / name), "somebody's " + name);
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / name_of(pages[2], kBothKinds)));
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ / name_of(pages[3], kBothKinds)));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / name_of(pages[4], kBothKinds)));
}

// Nothing is a leaf in a circle of names: those files would never go.
TEST_F(PrefixTiersTest, FilesWhoseNamesMakeACircleGoAsOthersDo) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 4);
  const auto crafted = [this](const PageKey& key, const PageKey& parent) {
    const EntryFileName name{.kind = EntryKind::kPage, .key = key, .parent = parent, .parts = 3, .n_tokens = 4};
    testing::write_file(folder_ / to_text(name), "FXKVPAGE" + std::string(kPageFile - 8, '?'));
  };
  { put_all(*open(0, 1 << 20), std::span(pages).last(1)); }
  crafted(pages[0].key, pages[2].key);
  crafted(pages[1].key, pages[0].key);
  crafted(pages[2].key, pages[1].key);
  const auto alone = testing::page_after(testing::test_root(), 9);
  crafted(alone.key, alone.key);
  auto first = open(0, 1 << 20);
  expect_books(*first);
  EXPECT_EQ(first->stats().disk.bytes, 5 * kPageFile);
  ::testing::internal::CaptureStderr();
  const auto later = open(0, 2 * kPageFile);  // looks through the folder again when it becomes the writer
  first.reset();
  now_s_ = now_s_ + 2;
  put(*later, testing::page_after(testing::test_root(), 10));
  ::testing::internal::GetCapturedStderr();
  expect_books(*later);
  EXPECT_EQ(later->stats().disk.n_entries, 2u);
  later->set_disk_budget(0);
  expect_books(*later);
  EXPECT_EQ(testing::stored_bytes(folder_.path()), 0u);
}

TEST_F(PrefixTiersTest, ANameAloneBeatsNoGoodFile) {
  const auto page = testing::page_after(testing::test_root(), 1);
  { put_all(*open(0, 1 << 20), std::span(&page, 1)); }
  const EntryFileName good = file_name_of(*testing::entry_of(testing::small_layout(), page, kBothKinds));
  const std::string bytes = testing::read_file(folder_ / to_text(good));
  std::vector<EntryFileName> crafted(6, good);
  crafted[0].parts = 0xFF;
  crafted[1].parts = 7;
  crafted[2].n_tokens = 5;
  crafted[3].kind = EntryKind::kState;
  crafted[4].parent = page.key;
  crafted[5].parts = ~PartMask{0};
  for (const EntryFileName& name : crafted) testing::write_file(folder_ / to_text(name), bytes);
  testing::write_file(folder_ / to_text({EntryKind::kPage, page.key, page.parent, 15, 4}), "somebody's");
  ::testing::internal::CaptureStderr();
  const auto tiers = open(0, 1 << 20);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(tiers->find(std::span(&page.key, 1)), std::vector<PartMask>{kBothKinds});
  EXPECT_EQ(load(*tiers, page), LoadOutcome::kGood);
  EXPECT_EQ(testing::files_in(folder_.path(), "1").size(), 2u) << "the good one, and somebody's";
  EXPECT_EQ(tiers->stats().disk.bytes, kPageFile);
}

TEST_F(PrefixTiersTest, AModelsOwnFileBeatsAnothersOfItsKey) {
  const auto page = testing::page_after(testing::test_root(), 1);
  { put_all(*open(0, 1 << 20), std::span(&page, 1)); }
  TierLayout other = testing::small_layout();
  other.part_bytes.push_back(8);
  const auto copy = testing::entry_of(other, page, 15);
  auto bytes = encode_entry_header(other, *copy);
  bytes.insert(bytes.end(), copy->bytes().begin(), copy->bytes().end());
  testing::write_file(folder_ / to_text(file_name_of(*copy)),
                      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  EXPECT_EQ(load(*open(0, 1 << 20), page), LoadOutcome::kGood);
}

// A file that was only found keeps nothing from being stored, whatever its name says.
TEST_F(PrefixTiersTest, ANameAloneKeepsNothingOut) {
  const auto page = testing::page_after(testing::test_root(), 1);
  const EntryFileName good = file_name_of(*testing::entry_of(testing::small_layout(), page, kBothKinds));
  std::vector<EntryFileName> crafted(4, good);
  crafted[0].parts = 0xFF;
  crafted[1].parts = 7;
  crafted[2].n_tokens = 5;
  for (const std::string& bytes :
       {"FXKVPAGE" + std::string(kPageFile, '?'), std::string(), std::string("FXK"), std::string(kPageFile, '\0')}) {
    for (const EntryFileName& name : crafted) {
      testing::write_file(folder_ / to_text(name), bytes);
      const auto tiers = open(0, 1 << 20);
      put_all(*tiers, std::span(&page, 1));
      EXPECT_EQ(load(*tiers, page), LoadOutcome::kGood);
      EXPECT_EQ(tiers->stats().disk.n_stored, 1u);
      expect_books(*tiers);
      tiers->set_disk_budget(0);
      tiers->flush();
    }
  }
}

TEST_F(PrefixTiersTest, AGoodFileThatWasFoundIsNotWrittenAgain) {
  const auto page = testing::page_after(testing::test_root(), 1);
  { put_all(*open(0, 1 << 20), std::span(&page, 1)); }
  const auto tiers = open(0, 1 << 20);
  put_all(*tiers, std::span(&page, 1));  // its header is read
  EXPECT_EQ(put(*tiers, page), PutOutcome::kHeld);
  EXPECT_EQ(put(*tiers, page, 1), PutOutcome::kHeld);
  EXPECT_EQ(tiers->stats().disk.n_stored, 0u);
  EXPECT_EQ(tiers->stats().disk.n_dropped, 0u);
  expect_books(*tiers);
}

// A folder under the name of a file: nobody can remove that as a file.
TEST_F(PrefixTiersTest, WhatDoesntGoStaysCountedAndOthersGoInstead) {
  std::vector<TestEntry> pages;
  for (int seed = 0; seed < 4; ++seed) pages.push_back(testing::page_after(testing::test_root(), 10 * seed));
  const auto tiers = open(0, 3 * kPageFile);
  for (const TestEntry& page : pages) {
    now_s_ = now_s_ + 1;
    if (&page != &pages.back()) put_all(*tiers, std::span(&page, 1));
  }
  const auto path = folder_ / to_text(file_name_of(*testing::entry_of(testing::small_layout(), pages[0], kBothKinds)));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  put_all(*tiers, std::span(pages).last(1));
  EXPECT_EQ(tiers->peek(std::span(&pages[1].key, 1)).size(), 0u) << "went instead";
  EXPECT_EQ(tiers->peek(std::span(&pages[3].key, 1)).size(), 1u);
  EXPECT_EQ(tiers->stats().disk.bytes, 3 * kPageFile);
  EXPECT_EQ(tiers->stats().disk.n_io_errors, 1u);
  tiers->check_integrity();
  tiers->set_disk_budget(0);
  tiers->flush();
  EXPECT_EQ(tiers->stats().disk.bytes, kPageFile);
  std::filesystem::remove(path);
  tiers->set_disk_budget(0);
  expect_books(*tiers);
  EXPECT_EQ(tiers->stats().disk.bytes, 0u);
}

TEST_F(PrefixTiersTest, WhatCantBeReadIsAMissAndItsBytesCanGo) {
  const auto page = testing::page_after(testing::test_root(), 1);
  const auto tiers = open(0, 1 << 20);
  put_all(*tiers, std::span(&page, 1));
  const auto path = folder_ / to_text(file_name_of(*testing::entry_of(testing::small_layout(), page, kBothKinds)));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(path, path);  // no way through: the system refuses to open it
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(load(*tiers, page), LoadOutcome::kDamaged);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(tiers->stats().disk.n_io_errors, 1u);
  EXPECT_TRUE(tiers->find(std::span(&page.key, 1)).empty());
  EXPECT_EQ(load(*tiers, page), LoadOutcome::kAbsent);
  EXPECT_EQ(tiers->stats().disk.bytes, kPageFile);
  tiers->check_integrity();
  put_all(*tiers, std::span(&page, 1));
  EXPECT_EQ(load(*tiers, page), LoadOutcome::kGood) << "written anew";
  expect_books(*tiers);
}

TEST_F(PrefixTiersTest, FilesThatVanishAreMisses) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 3);
  const auto tiers = open(0, 1 << 20);
  put_all(*tiers, pages);
  for (const auto& file : testing::files_in(folder_.path(), "page1")) std::filesystem::remove(file);
  for (const TestEntry& page : pages) EXPECT_EQ(load(*tiers, page), LoadOutcome::kAbsent);
  EXPECT_EQ(tiers->stats().disk.n_damaged, 0u);
  EXPECT_EQ(tiers->stats().disk.bytes, 0u);
  put_all(*tiers, pages);
  EXPECT_EQ(load(*tiers, pages[2]), LoadOutcome::kGood);
}

TEST_F(PrefixTiersTest, AnotherModelsFilesAreOthersAndCount) {
  const auto page = testing::page_after(testing::test_root(), 1);
  TierLayout other = testing::small_layout();
  other.model.bytes[3] ^= 1;
  TierOptions options;
  options.disk_folder = folder_.path();
  options.disk_bytes = kPageFile;
  {
    const auto tiers = std::move(*PrefixTiers::open(other, options));
    put_all(*tiers, std::span(&page, 1));
  }
  const auto tiers = open(0, kPageFile);
  EXPECT_EQ(tiers->stats().disk.bytes, kPageFile);
  const auto next = testing::page_after(testing::test_root(), 2);
  put_all(*tiers, std::span(&next, 1));
  expect_books(*tiers);
  EXPECT_EQ(tiers->stats().disk.n_evicted, 1u);
}

TEST_F(PrefixTiersTest, WhatAKilledWriterLeftIsSwept) {
  testing::write_file(folder_ / "writing.tmp1", "half a p");
  const auto tiers = open(0, 1 << 20);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "writing.tmp1"));
  EXPECT_EQ(tiers->stats().disk.n_entries, 0u);
}

// -------------------------------------------------------------------------------------------------- budgets and
// pressure

// Nothing that was put before comes back, neither from memory, from what waits to be written, nor over a restart.
TEST_F(PrefixTiersTest, WhatIsClearedIsGoneEverywhere) {
  const auto chain = testing::chain_of(testing::test_root(), 1, 4);
  const auto others = testing::chain_of(testing::test_root("other"), 2, 2);
  const auto keys = testing::keys_of(chain);
  {
    TierOptions options;
    options.disk_folder = folder_.path();
    options.disk_bytes = 1 << 20;
    TierLayout layout = testing::small_layout();
    layout.model = testing::test_root("another model");
    const auto tiers = std::move(*PrefixTiers::open(layout, options));
    for (const TestEntry& entry : others) {
      const testing::Parts parts(layout, kBothKinds, entry.key);
      EXPECT_EQ(tiers->put(entry.name(), parts.sources()), PutOutcome::kStored);
    }
  }
  const uint64_t others_bytes = testing::stored_bytes(folder_.path());
  {
    const auto tiers = open(1 << 20, 1 << 20);
    put_all(*tiers, std::span(chain).first(2));
    tiers->clear();
    EXPECT_TRUE(tiers->peek(keys).empty());
    expect_books(*tiers);
    EXPECT_EQ(testing::stored_bytes(folder_.path()), others_bytes) << "another model's files stay";
    put_all(*tiers, std::span(chain).first(3));
    EXPECT_EQ(tiers->peek(keys).size(), 3u) << "what comes later is stored as ever";
    for (const TestEntry& entry : chain) put(*tiers, entry, kBothKinds);
    tiers->clear();
    EXPECT_TRUE(tiers->peek(keys).empty());
  }
  EXPECT_EQ(testing::stored_bytes(folder_.path()), others_bytes);
  EXPECT_TRUE(open(0, 1 << 20)->peek(keys).empty());
}

// M1: a page that is larger than what memory, files and staging may take isn't even copied.
TEST_F(PrefixTiersTest, WhatIsLargerThanEveryBudgetIsntCopied) {
  TierLayout layout = testing::small_layout();
  layout.part_bytes[0] = 1 << 20;
  const auto page = testing::page_after(testing::test_root(), 1);
  const testing::Parts parts(layout, 1, page.key);
  for (const uint64_t staging_bytes : {uint64_t{1} << 30, uint64_t{1} << 20}) {
    TierOptions options;
    options.host_bytes = 1 << 20;
    options.disk_folder = folder_.path();
    options.disk_bytes = staging_bytes == 1 << 20 ? uint64_t{1} << 30 : 1 << 20;
    options.staging_bytes = staging_bytes;
    const auto tiers = std::move(*PrefixTiers::open(layout, options));
    EXPECT_EQ(tiers->put(page.name(), parts.sources()), PutOutcome::kDropped);
    const PrefixTierStats stats = tiers->stats();
    EXPECT_EQ(stats.host.bytes + stats.staged_bytes + stats.disk.bytes, 0u);
    EXPECT_EQ(stats.host.n_dropped, 1u);
    EXPECT_EQ(stats.disk.n_dropped, 1u);
    EXPECT_EQ(testing::stored_bytes(folder_.path()), 0u);
  }
}

// C12: files take no more than their budget either.
TEST_F(PrefixTiersTest, DiskBudgetIsKeptToTheByte) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 4);
  {
    const auto tiers = open(0, 3 * kPageFile);
    put_all(*tiers, pages);
    EXPECT_EQ(tiers->peek(testing::keys_of(pages)).size(), 3u);
    EXPECT_EQ(tiers->stats().disk.bytes, 3 * kPageFile);
    EXPECT_EQ(tiers->stats().disk.n_dropped, 1u);
    tiers->set_disk_budget(3 * kPageFile - 1);
    expect_books(*tiers);
    EXPECT_EQ(tiers->peek(testing::keys_of(pages)).size(), 2u);
  }
  const auto tiers = open(0, kPageFile);  // a smaller budget at the next start
  expect_books(*tiers);
  EXPECT_EQ(tiers->peek(testing::keys_of(pages)).size(), 1u);
  const auto nothing = open(0, 0);
  const TestEntry page = testing::page_after(testing::test_root(), 77);
  EXPECT_EQ(put(*open(kPageFile, 0), page), PutOutcome::kDropped);
}

TEST_F(PrefixTiersTest, UseOutlivesTheProcess) {
  const auto often = testing::page_after(testing::test_root(), 1);
  const auto late = testing::page_after(testing::test_root(), 2);
  {
    const auto tiers = open(0, 1 << 20);
    put_all(*tiers, std::span(&often, 1));
    for (int i = 0; i < 15; ++i) tiers->find(std::span(&often.key, 1));  // worth 400 s more
    EXPECT_EQ(load(*tiers, often), LoadOutcome::kGood);
    now_s_ = now_s_ + 300;
    put_all(*tiers, std::span(&late, 1));
  }
  const auto tiers = open(0, kPageFile);
  tiers->flush();
  EXPECT_EQ(tiers->peek(std::span(&often.key, 1)).size(), 1u);
  EXPECT_EQ(tiers->peek(std::span(&late.key, 1)).size(), 0u);
}

TEST_F(PrefixTiersTest, StagingIsBoundedAndNeverWaits) {
  staging_bytes_ = 1'000;
  const auto pages = testing::chain_of(testing::test_root(), 1, 300);
  const auto tiers = open(0, 1 << 20);
  uint64_t n_dropped = 0;
  for (const TestEntry& page : pages) {
    n_dropped += put(*tiers, page) == PutOutcome::kDropped ? 1 : 0;
    EXPECT_LE(tiers->stats().staged_bytes, 1'000u);
  }
  tiers->flush();
  EXPECT_EQ(tiers->stats().disk.n_stored + n_dropped, 300u);
  EXPECT_EQ(tiers->stats().disk.n_dropped, n_dropped);
  EXPECT_EQ(tiers->stats().staged_bytes, 0u);
  EXPECT_EQ(tiers->staging_room(), 1'000u);
  for (const TestEntry& page : pages) {  // what was dropped may be tried again
    put(*tiers, page);
    tiers->flush();
  }
  EXPECT_EQ(tiers->peek(testing::keys_of(pages)).size(), 300u);
}

TEST_F(PrefixTiersTest, AFullDiskCostsALineAndTheEntry) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 3);
  const auto tiers = open(0, 1 << 20);
  put_all(*tiers, std::span(pages).first(1));
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit small = before;
  small.rlim_cur = 100;
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ::testing::internal::CaptureStderr();
  std::string lines;
  ::setrlimit(RLIMIT_FSIZE, &small);
  for (const TestEntry& page : pages) put(*tiers, page);
  tiers->flush();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::testing::internal::GetCapturedStderr();
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(tiers->stats().disk.n_io_errors, 2u);
  EXPECT_EQ(tiers->stats().disk.n_dropped, 2u);
  expect_books(*tiers);
  put_all(*tiers, std::span(pages).last(2));
  EXPECT_EQ(tiers->peek(testing::keys_of(pages)).size(), 3u);
}

TEST_F(PrefixTiersTest, TheEndWaitsForNoMoreThanTheFileBeingWritten) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 4);
  auto tiers = open(0, 1 << 20);
  testing::HangingDisk disk(folder_.path());
  for (const TestEntry& page : pages) EXPECT_EQ(put(*tiers, page), PutOutcome::kStored);
  while (tiers->stats().disk.bytes == 0) std::this_thread::yield();  // the first is being written
  const auto now = PrefixTiers::TimePoint::clock::now();
  EXPECT_FALSE(tiers->flush_until(now));
  const uint64_t staged_bytes = tiers->stats().staged_bytes;
  EXPECT_EQ(tiers->finish(now), 3u);
  EXPECT_EQ(4 * tiers->stats().staged_bytes, staged_bytes) << "the first is still there";
  EXPECT_EQ(tiers->stats().disk.n_dropped, 3u);
  EXPECT_EQ(put(*tiers, pages[1]), PutOutcome::kDropped) << "the end has begun";
  EXPECT_EQ(tiers->finish(now), 0u);
  disk.release();
  tiers.reset();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2) << "the lock, and the first";
}

/// Holds the thread that writes a line.
class GateSink : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg&) override { gate.pass(); }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
  testing::Gate gate;
};

// The writer thread is held while it lets the first of four files go, which tells of itself since it is somebody's.
TEST_F(PrefixTiersTest, TheEndWaitsForNoMoreThanTheFileBeingLetGo) {
  for (const TestEntry& page : testing::chain_of(testing::test_root(), 1, 4)) {
    const auto name = file_name_of(*testing::entry_of(testing::small_layout(), page, kBothKinds));
    testing::write_file(folder_ / to_text(name), "somebody's");
  }
  const auto sink = std::make_shared<GateSink>();
  const auto sinks = std::exchange(log().sinks(), {sink});
  auto tiers = open(0, 1);
  sink->gate.wait_for_arrivals(1);
  EXPECT_EQ(tiers->finish(PrefixTiers::TimePoint::clock::now()), 0u);
  sink->gate.open();
  tiers->flush();
  EXPECT_EQ(tiers->stats().disk.n_entries, 3u);
  tiers.reset();
  log().sinks() = sinks;
}

TEST_F(PrefixTiersTest, AnEndInTimeCostsNothing) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 20);
  const auto tiers = open(0, 1 << 20);
  for (const TestEntry& page : pages) EXPECT_EQ(put(*tiers, page), PutOutcome::kStored);
  EXPECT_EQ(tiers->finish(PrefixTiers::TimePoint::clock::now() + std::chrono::hours(1)), 0u);
  EXPECT_EQ(tiers->stats().disk.n_stored, pages.size());
  EXPECT_EQ(tiers->stats().staged_bytes, 0u);
  EXPECT_TRUE(tiers->flush_until(PrefixTiers::TimePoint::clock::now()));
}

TEST_F(PrefixTiersTest, AFolderThatIsTakenAwayCostsNothingElse) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 2);
  const auto tiers = open(1 << 16, 1 << 20);
  std::filesystem::remove_all(folder_.path());
  ::testing::internal::CaptureStderr();
  for (const TestEntry& page : pages) EXPECT_EQ(put(*tiers, page), PutOutcome::kStored);
  tiers->flush();
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(folder_.path().string() + ": the folder was removed"), std::string::npos) << line;
  EXPECT_EQ(tiers->stats().disk.n_io_errors, 2u);
  EXPECT_EQ(load(*tiers, pages[1]), LoadOutcome::kGood);
}

// A process that only reads doesn't take that for another one's end.
TEST_F(PrefixTiersTest, AFolderThatIsTakenAwayFromAReaderIsntFree) {
  auto first = open(0, 1 << 20);
  ::testing::internal::CaptureStderr();
  const auto second = open(0, 1 << 20);
  std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(folder_.path().string() + ": another process writes here;"), std::string::npos) << line;
  std::filesystem::remove_all(folder_.path());
  first.reset();
  now_s_ = now_s_ + 2;
  EXPECT_EQ(put(*second, testing::page_after(testing::test_root(), 1)), PutOutcome::kDropped);
  second->flush();
  EXPECT_FALSE(second->stats().writes_disk);
}

TEST_F(PrefixTiersTest, ALockThatCantBeMadeIsNamedAtTheStart) {
  std::filesystem::create_directory(folder_ / "writer.lock");
  ::testing::internal::CaptureStderr();
  const auto tiers = open(0, 1 << 20);
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("writer.lock: can't make: Is a directory; entries are read"), std::string::npos) << line;
  EXPECT_FALSE(tiers->stats().writes_disk);
}

TEST_F(PrefixTiersTest, AFolderThatCantBeIsRefused) {
  testing::write_file(folder_ / "file", "x");
  TierOptions options;
  options.disk_folder = folder_ / "file";
  options.disk_bytes = 1;
  const auto tiers = PrefixTiers::open(testing::small_layout(), options);
  ASSERT_FALSE(tiers);
  EXPECT_NE(tiers.error().message.find((folder_ / "file").string()), std::string::npos) << tiers.error().message;
}

TEST_F(PrefixTiersTest, OneProcessWritesAndOthersRead) {
  const auto pages = testing::chain_of(testing::test_root(), 1, 3);
  auto first = open(0, 1 << 20);
  put_all(*first, std::span(pages).first(1));
  ::testing::internal::CaptureStderr();
  const auto second = open(0, 1 << 20);
  EXPECT_FALSE(second->stats().writes_disk);
  EXPECT_EQ(load(*second, pages[0]), LoadOutcome::kGood);
  EXPECT_EQ(put(*second, pages[1]), PutOutcome::kDropped);
  second->flush();  // it asked for the folder in vain, and asks again in a second
  put_all(*first, std::span(pages).subspan(1, 1));
  first.reset();
  now_s_ = now_s_ + 2;
  EXPECT_EQ(put(*second, pages[2]), PutOutcome::kDropped);  // and asks for the folder
  second->flush();
  ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(second->stats().writes_disk);
  put_all(*second, std::span(pages).last(1));
  EXPECT_EQ(second->peek(testing::keys_of(pages)).size(), 3u);  // what the first wrote meanwhile as well
  expect_books(*second);
}

// Random puts, uses, loads, damage and restarts; whatever is found is good, and the folder is what the books say.
TEST_F(PrefixTiersTest, RandomOperationsKeepBooksAndBytes) {
  std::minstd_rand random(6);
  std::vector<TestEntry> all;
  all.reserve(100);  // entries point to their parents meanwhile
  for (int i = 0; i < 100; ++i) {
    const bool is_first = i < 10;
    const TestEntry* const parent = is_first ? nullptr : &all[random() % static_cast<size_t>(i)];
    const PageKey key = is_first ? testing::test_root() : parent->key;
    all.push_back(random() % 4 == 0 ? testing::state_after(key, {i}) : testing::page_after(key, 10 * i));
    all.back().n_before = is_first ? 0 : parent->n_before + 4;
  }
  ::testing::internal::CaptureStderr();
  const uint64_t host_bytes = 6'000;
  auto tiers = open(host_bytes, 10'000);
  for (int step = 0; step < 6'000; ++step) {
    now_s_ = now_s_ + static_cast<double>(random() % 50);
    const TestEntry& entry = all[random() % all.size()];
    switch (random() % 9) {
      case 8:
        if (step % 10 == 0) {
          tiers->clear();
          ASSERT_TRUE(tiers->peek(std::span(&entry.key, 1)).empty());
        }
        break;
      case 0: {
        tiers->flush();  // so that nothing goes between finding and loading
        const auto found = tiers->find(std::span(&entry.key, 1));
        if (!found.empty()) {
          ASSERT_NE(load(*tiers, entry, found[0]), LoadOutcome::kAbsent);
        }
        break;
      }
      case 1:
        if (step % 10 == 0) {
          tiers.reset();
          tiers = open(host_bytes, 10'000);
        }
        break;
      case 2: {
        tiers->flush();
        const auto files = testing::files_in(folder_.path(), "1");
        if (files.empty() || step % 5 != 0) break;
        const auto& file = files[random() % files.size()];
        std::string bytes = testing::read_file(file);
        if (bytes.size() <= 8) break;
        bytes[8 + random() % (bytes.size() - 8)] ^= 4;
        testing::write_file(file, bytes);
        break;
      }
      default:
        put(*tiers, entry, 1 + random() % 7);
    }
    if (step % 20 == 0) expect_books(*tiers);
    ASSERT_LE(tiers->stats().host.bytes, host_bytes);
  }
  ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(HasFailure());
}

TEST_F(PrefixTiersTest, ManyThreadsAtOnce) {
  const auto tiers = open(4'000, 20 * kPageFile);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&tiers, t] {
      std::minstd_rand random(static_cast<uint32_t>(t + 1));
      for (int i = 0; i < 400; ++i) {
        const auto pages = testing::chain_of(testing::test_root(), static_cast<int>(random() % 6), 6);
        for (const TestEntry& page : pages) put(*tiers, page);
        const auto found = tiers->find(testing::keys_of(pages));
        for (size_t k = 0; k < found.size(); ++k) EXPECT_NE(load(*tiers, pages[k]), LoadOutcome::kDamaged);
        tiers->find_state(testing::keys_of(pages), pages[0].tokens, 4);
        tiers->set_disk_budget((10 + random() % 10) * kPageFile);
        if (i % 40 == 0) tiers->clear();
        EXPECT_LE(tiers->stats().host.bytes, 4'000u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect_books(*tiers);
}

}  // namespace
}  // namespace ferrox
