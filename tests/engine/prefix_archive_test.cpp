// Do prefixes that the store has lost, or another process computed, come back as they were?
#include "engine/prefix_archive.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <random>

#include "engine/random_prompt.h"
#include "support/file_bytes.h"
#include "support/hanging_disk.h"
#include "support/loop_rig.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

using testing::EventLog;
using testing::FakeModel;
using testing::judge_ids;
using testing::make_request;
using testing::random_prompt;
using testing::Rig;
using testing::RigShape;
using testing::TempFolder;

/// The judge's answer; gives the tokens that were cached.
int64_t cached_tokens(Rig& rig, const GenerationRequest& request) {
  EventLog log = rig.submit(request);
  EXPECT_FALSE(log.wait().empty());
  EXPECT_EQ(log.ids(), judge_ids(request, *request.max_tokens));
  return log.done().usage.cached_tokens.value_or(-1);
}

struct KindOfModel {
  int window;
  FakeModel::State state;
};
constexpr KindOfModel kKinds[] = {{0, FakeModel::State::kNone},
                                  {6, FakeModel::State::kNone},
                                  {0, FakeModel::State::kRecurrent},
                                  {6, FakeModel::State::kRecurrent}};

/// Of a prompt of 43 tokens in pages of 4: whole pages, or as far as there is a state.
int64_t restored_of_43(const KindOfModel& kind) { return kind.state == FakeModel::State::kNone ? 40 : 42; }

RigShape shape_of(const KindOfModel& kind) {
  RigShape shape{.n_pages = 60, .window = kind.window, .slide_interval = 8};
  shape.state = kind.state;
  return shape;
}

RigShape on_disk(const KindOfModel& kind, const TempFolder& folder) {
  RigShape shape = shape_of(kind);
  shape.tiers.disk_folder = folder.path();
  shape.tiers.disk_bytes = 1 << 20;
  return shape;
}

TEST(PrefixArchive, WhatTheStoreHasNoRoomForComesBackFromMemory) {
  for (const KindOfModel& kind : kKinds) {
    SCOPED_TRACE(fmt::format("window {}, state {}", kind.window, kind.state == FakeModel::State::kRecurrent));
    RigShape shape = shape_of(kind);
    shape.n_pages = 24;
    shape.n_states = 4;
    shape.n_parallel = 1;
    shape.tiers.host_bytes = 1 << 20;
    Rig rig(shape);
    const GenerationRequest first = make_request(random_prompt(43, 1), 6);
    EXPECT_EQ(cached_tokens(rig, first), 0);
    for (uint32_t i = 2; i < 6; ++i) cached_tokens(rig, make_request(random_prompt(60, i), 20));
    EXPECT_EQ(cached_tokens(rig, first), restored_of_43(kind));
    EXPECT_GT(rig.loop->tier_stats()->host.n_loaded, 0u);
    rig.expect_at_rest();
  }
}

TEST(PrefixArchive, AnotherProcessGoesOnBehindIt) {
  for (const KindOfModel& kind : kKinds) {
    for (const uint64_t slice_bytes : {uint64_t{1}, uint64_t{1} << 20}) {
      SCOPED_TRACE(fmt::format("window {}, state {}, slices of {}", kind.window,
                               kind.state == FakeModel::State::kRecurrent, slice_bytes));
      const TempFolder folder;
      RigShape shape = on_disk(kind, folder);
      shape.slice_bytes = slice_bytes;
      const GenerationRequest first = make_request(random_prompt(43, 1), 6);
      std::vector<int32_t> history = first.prompt;
      {
        Rig rig(shape);
        EventLog log = rig.submit(first);
        ASSERT_FALSE(log.wait().empty());
        for (const int32_t id : log.ids()) history.push_back(id);
      }
      Rig rig(shape);
      EXPECT_EQ(cached_tokens(rig, first), restored_of_43(kind));
      EXPECT_EQ(cached_tokens(rig, first), 42) << "from the store now";
      Rig third(shape);  // reads what the second one writes
      for (const int32_t id : random_prompt(5, 2)) history.push_back(id);
      EXPECT_GE(cached_tokens(third, make_request(history, 3)), 40) << "a second turn";
      third.expect_at_rest();
    }
  }
}

TEST(PrefixArchive, AnotherModelOrNamespaceIsAMiss) {
  const TempFolder folder;
  RigShape shape = on_disk(kKinds[0], folder);
  GenerationRequest request = make_request(random_prompt(43, 1), 6);
  { Rig(shape).expect_at_rest(); }
  {
    Rig rig(shape);
    EXPECT_EQ(cached_tokens(rig, request), 0);
  }
  GenerationRequest salted = request;
  salted.cache_space = "other";
  {
    Rig rig(shape);
    EXPECT_EQ(cached_tokens(rig, salted), 0);
    EXPECT_EQ(cached_tokens(rig, request), 40);
  }
  shape.model_identity = 2;
  Rig rig(shape);
  EXPECT_EQ(cached_tokens(rig, request), 0);
}

TEST(PrefixArchive, ARequestThatKeepsOutLeavesNothing) {
  const TempFolder folder;
  RigShape shape = on_disk(kKinds[0], folder);
  GenerationRequest request = make_request(random_prompt(43, 1), 6);
  request.use_prefix_cache = false;
  {
    Rig rig(shape);
    EXPECT_EQ(cached_tokens(rig, request), -1);
  }
  EXPECT_TRUE(testing::files_in(folder.path(), ".page1").empty());
}

/// Runs test(archive) on the engine thread, with an archive of its own beside the rig's store.
void with_archive(Rig& rig, const RigShape& shape, const std::function<void(std::unique_ptr<PrefixArchive>)>& test) {
  std::promise<void> done;
  ASSERT_TRUE(rig.loop->post([&](KvMemory& memory) {
    test(Rig::archive_of(shape, memory));
    done.set_value();
  }));
  done.get_future().wait();
}

/// With no time left nothing is waited for: neither copies that wait to be made nor such that wait to be written.
TEST(PrefixArchive, TheEndIsBoundedAndSaysWhatItCost) {
  const TempFolder folder;
  Rig rig;
  const GenerationRequest request = make_request(random_prompt(43, 1), 6);
  cached_tokens(rig, request);
  with_archive(rig, on_disk(kKinds[0], folder), [&](std::unique_ptr<PrefixArchive> archive) {
    testing::HangingDisk disk(folder.path());
    archive->keep("", request.prompt);
    archive->work();
    EXPECT_FALSE(archive->has_work());
    EXPECT_GT(archive->stats().staged_bytes, 0u);
    archive->keep("", request.prompt);
    ::testing::internal::CaptureStderr();
    archive->finish(std::chrono::seconds(0));
    const std::string line = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(line.find("1 prompts weren't written within 0 s: dropped"), std::string::npos) << line;
    EXPECT_FALSE(archive->has_work());
    EXPECT_GE(archive->stats().disk.n_dropped, 9u) << "of ten pages one may be under way";
    disk.release();
    archive.reset();
  });
}

TEST(PrefixArchive, AnEndInTimeWritesAllThatWaits) {
  const TempFolder folder;
  Rig rig;
  const GenerationRequest request = make_request(random_prompt(43, 1), 6);
  cached_tokens(rig, request);
  with_archive(rig, on_disk(kKinds[0], folder), [&](const std::unique_ptr<PrefixArchive>& archive) {
    archive->keep("", request.prompt);
    archive->finish();
    EXPECT_EQ(archive->stats().disk.n_stored, 10u);
    EXPECT_EQ(archive->stats().disk.n_dropped, 0u);
  });
}

TEST(PrefixArchive, CopiesWaitWhileStagingIsFull) {
  Rig rig;
  const GenerationRequest request = make_request(random_prompt(43, 1), 6);
  cached_tokens(rig, request);
  uint64_t bytes_of_all = 0;
  for (const bool is_small : {false, true}) {
    const TempFolder folder;
    RigShape shape = on_disk(kKinds[0], folder);
    if (is_small) shape.tiers.staging_bytes = bytes_of_all / 10;  // one of ten pages
    with_archive(rig, shape, [&](std::unique_ptr<PrefixArchive> archive) {
      testing::HangingDisk disk(folder.path());
      archive->keep("", request.prompt);
      archive->work();
      bytes_of_all = archive->stats().staged_bytes;
      archive->keep("", request.prompt);
      EXPECT_EQ(archive->has_work(), !is_small);
      disk.release();
      archive->tiers().flush();
      EXPECT_TRUE(archive->has_work());
      archive.reset();
    });
  }
}

/// Whoever asks whether the engine gets on is told of each page, and that a disk is waited for.
TEST(PrefixArchive, LongCopiesShowThatTheyGetOn) {
  Rig rig;
  const GenerationRequest request = make_request(random_prompt(43, 1), 6);
  cached_tokens(rig, request);
  uint64_t bytes_of_all = 0;
  for (const bool is_small : {false, true}) {
    const TempFolder folder;
    RigShape shape = on_disk(kKinds[0], folder);
    if (is_small) shape.tiers.staging_bytes = bytes_of_all / 10;  // one of ten pages
    with_archive(rig, shape, [&](std::unique_ptr<PrefixArchive> archive) {
      testing::HangingDisk disk(folder.path());
      int n = 0;
      archive->on_progress([&] { ++n; });
      archive->keep("", request.prompt);
      archive->work();
      EXPECT_EQ(n, is_small ? 2 : 10) << "of two the second found no room";
      bytes_of_all = archive->stats().staged_bytes;
      if (is_small) {
        int n_waited = 0;
        archive->on_progress([&] {
          if (++n_waited == 3) disk.release();
        });
        archive->keep("", request.prompt);
        archive->copy_all(std::chrono::seconds(600));
        EXPECT_GT(n_waited, 3);
      }
      disk.release();
      archive.reset();
    });
  }
}

TEST(PrefixArchive, NothingIsCopiedBehindAPageThatWasDropped) {
  const TempFolder folder;
  Rig rig;
  const GenerationRequest request = make_request(random_prompt(43, 1), 6);
  cached_tokens(rig, request);
  RigShape shape = on_disk(kKinds[0], folder);
  shape.tiers.disk_bytes = 1;
  with_archive(rig, shape, [&](const std::unique_ptr<PrefixArchive>& archive) {
    archive->keep("", request.prompt);
    archive->work();
    EXPECT_FALSE(archive->has_work());
    EXPECT_EQ(archive->stats().disk.n_dropped, 1u);
  });
}

/// Whatever is done to the files, answers are the judge's, and what is before the damage is still reused.
TEST(PrefixArchive, DamageIsAMiss) {
  for (const KindOfModel& kind : kKinds) {
    const TempFolder folder;
    RigShape shape = on_disk(kind, folder);
    const GenerationRequest request = make_request(random_prompt(43, 1), 6);
    {
      Rig rig(shape);
      cached_tokens(rig, request);
    }
    for (const auto& path : testing::files_in(folder.path(), "1")) {
      std::string bytes = testing::read_file(path);
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
      testing::write_file(path, bytes);
    }
    Rig rig(shape);
    EXPECT_EQ(cached_tokens(rig, request), 0);
    EXPECT_GT(rig.loop->tier_stats()->disk.n_damaged, 0u);
    rig.expect_at_rest();
  }
}

TEST(PrefixArchive, WhatComesBeforeTheDamageIsReused) {
  const TempFolder folder;
  RigShape shape = on_disk(kKinds[0], folder);
  const GenerationRequest request = make_request(random_prompt(43, 1), 6);
  {
    Rig rig(shape);
    cached_tokens(rig, request);
  }
  PageKey key;
  key.bytes.front() = shape.model_identity;
  key = root_key(std::as_bytes(std::span(key.bytes)), {});
  for (size_t i = 0; i < 7; ++i) key = next_key(key, std::span(request.prompt).subspan(4 * i, 4));
  for (const auto& path : testing::files_in(folder.path(), ".page1")) {
    if (!path.filename().string().starts_with(to_hex(key))) continue;
    std::string bytes = testing::read_file(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    testing::write_file(path, bytes);
  }
  Rig rig(shape);
  EXPECT_EQ(cached_tokens(rig, request), 6 * 4);
}

/// Two pages are lost: whoever needs window rows or a state goes on where an earlier prompt left them.
TEST(PrefixArchive, WhatIsMissingIsntAskedForAndWhatComesBeforeItIs) {
  for (const KindOfModel& kind : kKinds) {
    SCOPED_TRACE(fmt::format("window {}, state {}", kind.window, kind.state == FakeModel::State::kRecurrent));
    const TempFolder folder;
    const RigShape shape = on_disk(kind, folder);
    const GenerationRequest request = make_request(random_prompt(43, 1), 6);
    const std::vector<int32_t> start(request.prompt.begin(), request.prompt.begin() + 25);
    {
      Rig rig(shape);
      cached_tokens(rig, make_request(start, 1));
      cached_tokens(rig, request);
    }
    PageKey key;
    key.bytes.front() = shape.model_identity;
    key = root_key(std::as_bytes(std::span(key.bytes)), {});
    for (size_t i = 0; i < 10; ++i) {
      key = next_key(key, std::span(request.prompt).subspan(4 * i, 4));
      for (const auto& path : testing::files_in(folder.path(), ".page1")) {
        if (i >= 8 && path.filename().string().starts_with(to_hex(key))) std::filesystem::remove(path);
      }
    }
    Rig rig(shape);
    const int64_t by_pages = kind.window == 0 ? 32 : 24;
    EXPECT_EQ(cached_tokens(rig, request), kind.state == FakeModel::State::kNone ? by_pages : 25);
    EXPECT_EQ(rig.loop->tier_stats()->disk.n_io_errors, 0u);
  }
}

/// Conversations that branch over two tiers and a store that holds few of them, stopped and started again.
TEST(PrefixArchive, RandomSchedulesOverRestartsGiveTheJudgesAnswers) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const TempFolder folder;
    RigShape shape = shape_of(kKinds[seed % 4]);
    shape.n_pages = 40;
    shape.n_states = 6;
    shape.slice_bytes = 700;
    shape.tiers.host_bytes = seed % 2 == 0 ? 20'000 : 0;
    shape.tiers.disk_folder = folder.path();
    shape.tiers.disk_bytes = 60'000;
    std::mt19937 random(seed);
    std::vector<std::vector<int32_t>> histories = {random_prompt(20, 1)};
    int64_t n_cached = 0;
    for (int restart = 0; restart < 4; ++restart) {
      Rig rig(shape);
      std::vector<std::pair<GenerationRequest, EventLog>> sent;
      for (int i = 0; i < 40; ++i) {
        std::vector<int32_t> prompt = histories[random() % histories.size()];
        prompt.resize(std::min<size_t>(prompt.size(), 1 + random() % 60));
        for (const int32_t id : random_prompt(1 + static_cast<int32_t>(random() % 9), random() % 6)) {
          prompt.push_back(id);
        }
        histories.push_back(prompt);
        const GenerationRequest request = make_request(prompt, 1 + static_cast<int64_t>(random() % 12), random());
        sent.emplace_back(request, rig.submit(request));
        if (random() % 3 == 0) {
          ASSERT_FALSE(sent[random() % sent.size()].second.wait().empty());
        }
      }
      for (auto& [request, log] : sent) {
        ASSERT_FALSE(log.wait().empty());
        EXPECT_EQ(log.ids(), judge_ids(request, *request.max_tokens));
        n_cached += *log.done().usage.cached_tokens;
      }
      rig.expect_at_rest();
    }
    EXPECT_GT(n_cached, 0);
  }
}

}  // namespace
}  // namespace ferrox
