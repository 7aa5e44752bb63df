// Are pages that a session holds given back by the engine thread, and is the disk shared out to the byte?
#include "engine/sessions.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <numeric>
#include <thread>

#include "engine/engine_loan.h"
#include "engine/prefix_archive.h"
#include "engine/random_prompt.h"
#include "support/hanging_disk.h"
#include "support/loop_rig.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

using testing::make_request;
using testing::random_prompt;
using testing::Rig;
using testing::RigShape;
using testing::TempFolder;

constexpr uint64_t kSessionDiskBytes = 1 << 20;

/// Sessions of a rig's store, with tiers of their own.
struct SessionRig {
  SessionRig() {
    RigShape shape;
    shape.tiers.disk_folder = folder.path();
    shape.tiers.disk_bytes = kSessionDiskBytes;
    on_engine([&](KvMemory& memory) {
      archive = Rig::archive_of(shape, memory);
      cache = dynamic_cast<PagedMemory&>(memory).prefix_cache();
    });
  }

  void on_engine(const std::function<void(KvMemory&)>& work) {
    std::promise<void> done;
    ASSERT_TRUE(rig.loop->post([&](KvMemory& memory) {
      work(memory);
      done.set_value();
    }));
    done.get_future().wait();
  }

  /// Posts to the engine.
  EnginePost post() {
    return
        [this](std::function<void()> work) { return rig.loop->post([work = std::move(work)](KvMemory&) { work(); }); };
  }

  std::unique_ptr<Sessions> sessions(EnginePost how) {
    PrefixTiers& tiers = archive->tiers();
    auto store = *SessionStore::open(tiers.layout(), folder.path() / "sessions", kSessionDiskBytes);
    return std::make_unique<Sessions>(*cache, tiers, std::move(store), kSessionDiskBytes, testing::FakeModel::kVocab,
                                      std::move(how));
  }

  /// A prompt of n tokens that the cache holds from now on.
  std::vector<int32_t> computed(int32_t n, uint32_t seed) {
    const std::vector<int32_t> prompt = random_prompt(n, seed);
    rig.submit(make_request(prompt, 1)).wait();
    EXPECT_TRUE(rig.loop->wait_idle(60'000));
    return prompt;
  }

  int64_t n_pages_held() {
    int64_t n = 0;
    on_engine([&](KvMemory& memory) {
      const std::vector<int32_t> available = memory.n_available();
      n = std::reduce(memory.terms().n_pages.begin(), memory.terms().n_pages.end(), int64_t{0}) -
          std::reduce(available.begin(), available.end(), int64_t{0});
    });
    return n;
  }

  uint64_t tier_budget() const { return archive->stats().disk.budget_bytes; }

  TempFolder folder;
  Rig rig;
  std::unique_ptr<PrefixArchive> archive;
  PrefixCache* cache = nullptr;
};

/// Says which thread destroyed it.
struct TellsItsEnd {
  explicit TellsItsEnd(std::thread::id& where) : where_(where) {}
  ~TellsItsEnd() { where_ = std::this_thread::get_id(); }
  std::thread::id& where_;
};

TEST(EngineLoan, GoesOnTheEngineThreadWhateverIsThrown) {
  SessionRig rig;
  std::thread::id engine;
  rig.on_engine([&](KvMemory&) { engine = std::this_thread::get_id(); });
  const EnginePost post = rig.post();
  std::thread::id where;
  try {
    EngineLoan<TellsItsEnd> loan(post);
    rig.on_engine([&](KvMemory&) { loan.make(where); });
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
    rig.on_engine([](KvMemory&) {});
  }
  EXPECT_EQ(where, engine);
}

TEST(EngineLoan, GoesNowhereWhenTheEngineTakesNoMore) {
  std::function<void()> refused;
  const EnginePost post = [&](std::function<void()> work) {
    refused = std::move(work);
    return false;
  };
  std::thread::id where;
  {
    EngineLoan<TellsItsEnd> loan(post);
    loan.make(where);
  }
  EXPECT_EQ(where, std::thread::id());
  refused();
}

TEST(SessionPages, AreTheEnginesToGiveBackAndTheIdIsToldAnyway) {
  SessionRig rig;
  const std::vector<int32_t> prompt = rig.computed(43, 1);
  std::vector<std::function<void()>> refused;
  int n_posts = 0;
  const auto sessions = rig.sessions([&, post = rig.post()](std::function<void()> work) {
    if (++n_posts == 1) return post(std::move(work));
    refused.push_back(std::move(work));
    return false;
  });
  const auto saved = sessions->save("", prompt);
  ASSERT_TRUE(saved) << saved.error().message;
  ASSERT_EQ(sessions->list().size(), 1u);
  EXPECT_EQ(sessions->list().front().id, saved->id);
  EXPECT_GT(rig.n_pages_held(), 0) << "not by this thread";
  ASSERT_EQ(refused.size(), 1u);
  rig.on_engine([&](KvMemory&) { refused.front()(); });
  EXPECT_EQ(rig.n_pages_held(), 0);
}

TEST(SessionPages, OfARestoreThatTheEngineDoesntEndAreItsToo) {
  SessionRig rig;
  const std::vector<int32_t> prompt = rig.computed(43, 1);
  const SessionId id = rig.sessions(rig.post())->save("", prompt)->id;
  rig.on_engine([](KvMemory& memory) { memory.clear_cache(); });
  std::vector<std::function<void()>> refused;
  int n_posts = 0;
  const auto sessions = rig.sessions([&, post = rig.post()](std::function<void()> work) {
    if (++n_posts == 1) return post(std::move(work));
    refused.push_back(std::move(work));
    return false;
  });
  const auto restored = sessions->restore(id, "");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::kUnavailable);
  EXPECT_GT(rig.n_pages_held(), 0) << "not by this thread";
  ASSERT_EQ(refused.size(), 2u) << "its end, and what was taken for it";
  rig.on_engine([&](KvMemory&) { refused.back()(); });
  EXPECT_EQ(rig.n_pages_held(), 0);
}

TEST(SessionDisk, AFileThatIsBeingWrittenKeepsItsShare) {
  SessionRig rig;
  const std::vector<int32_t> small = rig.computed(20, 1);
  const std::vector<int32_t> large = rig.computed(43, 2);
  const auto sessions = rig.sessions(rig.post());
  const auto old = sessions->save("", small);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(rig.tier_budget(), kSessionDiskBytes - old->size_bytes);
  testing::HangingDisk disk(rig.folder.path());
  rig.on_engine([&](KvMemory&) {
    rig.archive->keep("", large);
    rig.archive->work();
  });
  Result<SessionSummary> saved = make_error(ErrorCode::kUnavailable, "not yet");
  std::thread saver([&] { saved = sessions->save("", large); });
  while (rig.tier_budget() == kSessionDiskBytes - old->size_bytes) std::this_thread::yield();
  const uint64_t budget = rig.tier_budget();
  EXPECT_TRUE(sessions->erase(old->id));
  EXPECT_EQ(rig.tier_budget(), budget + old->size_bytes) << "what is written isn't the tiers'";
  disk.release();
  saver.join();
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_EQ(rig.tier_budget(), kSessionDiskBytes - saved->size_bytes);
  rig.archive.reset();  // before what hung
}

}  // namespace
}  // namespace ferrox
