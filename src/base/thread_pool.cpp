#include "base/thread_pool.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/check.h"

namespace ferrox {
namespace {

/// Polls before a waiter sleeps: about 50 us, longer than the serial gaps between two operations of a forward pass
/// and far shorter than what an idle server would notice.
constexpr int kSpins = 2000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

// A call is published by raising `generation`; every worker answers once by lowering `n_busy`.
struct ThreadPool::State {
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<int64_t> next_chunk{0};
  alignas(64) std::atomic<int> n_busy{0};
  bool stopping = false;
  int64_t n_chunks = 0;
  Trampoline call = nullptr;
  const void* work = nullptr;
  std::vector<std::thread> workers;

  void claim_chunks(int thread) {
    for (;;) {
      const int64_t chunk = next_chunk.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= n_chunks) return;
      call(work, chunk, thread);
    }
  }

  void serve(int thread) {
    uint32_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && generation.load(std::memory_order_acquire) == seen; ++spin) relax();
      generation.wait(seen, std::memory_order_acquire);
      seen = generation.load(std::memory_order_acquire);
      if (stopping) return;
      claim_chunks(thread);
      if (n_busy.fetch_sub(1, std::memory_order_acq_rel) == 1) n_busy.notify_one();
    }
  }

  void publish() {
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
  }

  void await_workers() {
    for (int spin = 0; spin < kSpins && n_busy.load(std::memory_order_acquire) != 0; ++spin) relax();
    for (int left = n_busy.load(std::memory_order_acquire); left != 0; left = n_busy.load(std::memory_order_acquire)) {
      n_busy.wait(left, std::memory_order_acquire);
    }
  }
};

ThreadPool::ThreadPool(int n_threads) : n_threads_(std::max(1, n_threads)), state_(std::make_unique<State>()) {
  for (int thread = 1; thread < n_threads_; ++thread) {
    state_->workers.emplace_back([state = state_.get(), thread] { state->serve(thread); });
  }
}

ThreadPool::~ThreadPool() {
  state_->stopping = true;
  state_->publish();
  for (auto& worker : state_->workers) worker.join();
}

void ThreadPool::run_erased(int64_t n_chunks, Trampoline call, const void* work) {
  if (n_chunks <= 0) return;
  if (n_threads_ == 1 || n_chunks == 1) {
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) call(work, chunk, 0);
    return;
  }
  CHECK(state_->n_busy.load(std::memory_order_relaxed) == 0, "a pool runs one call at a time");
  state_->n_chunks = n_chunks;
  state_->call = call;
  state_->work = work;
  state_->next_chunk.store(0, std::memory_order_relaxed);
  state_->n_busy.store(n_threads_ - 1, std::memory_order_relaxed);
  state_->publish();
  state_->claim_chunks(0);
  state_->await_workers();
}

}  // namespace ferrox
