// Does the pool hand out each chunk exactly once, to threads that exist, and return when all are done?
#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace ferrox {
namespace {

/// How often each chunk ran; plain ints, so that two runs of one chunk would be a race that ThreadSanitizer sees.
std::vector<int> count_runs(ThreadPool& pool, int64_t n_chunks) {
  std::vector<int> runs(static_cast<size_t>(n_chunks), 0);
  pool.run(n_chunks, [&](int64_t chunk, int thread) {
    EXPECT_GE(thread, 0);
    EXPECT_LT(thread, pool.n_threads());
    ++runs[static_cast<size_t>(chunk)];
  });
  return runs;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need the address space
/// Without room for more stacks a thread can't be started.
void work_in_little_memory() {
  std::ifstream statm("/proc/self/statm");
  rlim_t n_pages = 0;
  statm >> n_pages;
  const rlim_t room = n_pages * 4096 + (rlim_t{128} << 20);
  const rlimit limit{room, room};
  setrlimit(RLIMIT_AS, &limit);
  ThreadPool pool(4096);
  const std::vector<int> runs = count_runs(pool, 1000);
  std::_Exit(pool.n_threads() < 4096 && runs == std::vector<int>(1000, 1) ? 0 : 1);
}

TEST(ThreadPool, WorksWithTheThreadsThatTheSystemGives) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(work_in_little_memory(), ::testing::ExitedWithCode(0), "");
}
#endif

TEST(ThreadPool, EachChunkRunsOnce) {
  for (int n_threads = 1; n_threads <= 5; ++n_threads) {
    ThreadPool pool(n_threads);
    EXPECT_EQ(pool.n_threads(), n_threads);
    for (const int64_t n_chunks : {0, 1, 2, 3, 4, 5, 7, 64, 1000}) {
      EXPECT_EQ(count_runs(pool, n_chunks), std::vector<int>(static_cast<size_t>(n_chunks), 1));
    }
    EXPECT_TRUE(count_runs(pool, 0).empty());
  }
}

TEST(ThreadPool, FewerThanOneThreadIsOne) {
  EXPECT_EQ(ThreadPool(0).n_threads(), 1);
  EXPECT_EQ(ThreadPool(-3).n_threads(), 1);
}

TEST(ThreadPool, NegativeChunksAreNone) {
  ThreadPool pool(2);
  pool.run(-1, [](int64_t, int) { FAIL(); });
}

/// What one run writes, the next one reads, without any other synchronisation.
TEST(ThreadPool, RunsFollowEachOther) {
  ThreadPool pool(3);
  std::vector<int64_t> values(257, 0);
  for (int round = 0; round < 500; ++round) {
    const auto n = static_cast<int64_t>(values.size());
    pool.run(n, [&](int64_t i, int) { values[static_cast<size_t>(n - 1 - i)] += i; });
    ASSERT_EQ(values[0], (round + 1) * (n - 1));
  }
  const int64_t sum = std::accumulate(values.begin(), values.end(), int64_t{0});
  EXPECT_EQ(sum, int64_t{500} * 256 * 257 / 2);
}

/// Two threads are in one run at the same time: each waits for the other.
TEST(ThreadPool, ThreadsWorkAtTheSameTime) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  pool.run(2, [&](int64_t, int) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) {
    }
  });
  EXPECT_EQ(arrived.load(), 2);
}

/// A thread's number is its own during a run, so scratch by number needs no lock.
TEST(ThreadPool, ScratchByThreadNumberIsPrivate) {
  ThreadPool pool(4);
  std::vector<int64_t> scratch(4, 0);
  for (int round = 0; round < 200; ++round) {
    pool.run(100, [&](int64_t, int thread) { ++scratch[static_cast<size_t>(thread)]; });
  }
  EXPECT_EQ(std::accumulate(scratch.begin(), scratch.end(), int64_t{0}), 200 * 100);
}

/// Threads of this process that are in the scheduler's state "running or runnable".
int count_running_threads() {
  int n_running = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const size_t name_end = stat.rfind(')');  // the name may hold anything
    if (name_end != std::string::npos) n_running += stat[name_end + 2] == 'R';
  }
  return n_running;
}

/// A pool that has nothing to do costs nothing: all but this thread come to rest, however long the machine takes.
TEST(ThreadPool, WorkersFallAsleep) {
  ThreadPool pool(4);
  for (int round = 0; round < 2; ++round) {
    count_runs(pool, 100);
    while (count_running_threads() > 1) std::this_thread::yield();
  }
  EXPECT_EQ(count_runs(pool, 10), std::vector<int>(10, 1));
}

/// Workers that sleep are woken, and pools that never ran end.
TEST(ThreadPool, PoolsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool idle(3);
    ThreadPool pool(3);
    EXPECT_EQ(count_runs(pool, 10), std::vector<int>(10, 1));
  }
}

/// Pools are independent: one inside a chunk of another.
TEST(ThreadPool, PoolsNest) {
  ThreadPool outer(2);
  std::atomic<int> total{0};
  outer.run(4, [&](int64_t, int) {
    ThreadPool inner(2);
    inner.run(8, [&](int64_t, int) { total.fetch_add(1); });
  });
  EXPECT_EQ(total.load(), 32);
}

}  // namespace
}  // namespace ferrox
