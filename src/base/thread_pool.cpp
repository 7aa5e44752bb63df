#include "base/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/profile.h"

namespace ferrox {
namespace {

/// Polls before a waiter sleeps: about 50 us, longer than the serial gaps between two operations of a forward pass
/// and far shorter than what an idle server would notice.
constexpr int kSpins = 2000;

/// Of what is left of a part a thread claims this share at once, so that the counter isn't asked for each of many small
/// chunks, and none is left alone with much in the end.
constexpr int64_t kClaimsOfRest = 8;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// The gate's layout: bit 31 says that a call is open, the bits below count the workers that joined it.
constexpr uint32_t kOpen = uint32_t{1} << 31;

}  // namespace

// A call is published by opening the gate. Workers that get there while it is open join and claim chunks; the caller
// claims too, closes the gate when none are left, and waits for those who joined. A worker that the machine didn't
// schedule in time is therefore never waited for: a busy neighbour costs its share, not the whole call.
struct ThreadPool::State {
  /// Chunks that one thread begins with, and others take over once their own are done.
  struct alignas(64) Part {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  alignas(64) std::atomic<uint32_t> generation{0};  ///< raised with each call: what sleeping workers watch
  alignas(64) std::atomic<uint32_t> gate{0};
  alignas(64) std::atomic<uint32_t> n_left{0};  ///< workers that joined and are done
  std::atomic<bool> stopping{false};
  std::vector<Part> parts;  ///< one a thread
  Trampoline call = nullptr;
  const void* work = nullptr;
  bool is_metered = false;
  std::atomic<int64_t> busy_ns{0};  ///< of all threads, when metered
  std::vector<std::thread> workers;

  void claim_chunks(int thread) {
    if (!is_metered) return claim_all(thread);
    const auto started = Profile::Clock::now();
    claim_all(thread);
    busy_ns.fetch_add(std::chrono::nanoseconds(Profile::Clock::now() - started).count(), std::memory_order_relaxed);
  }

  /// What a thread worked on in one call is in its cache for the next one: it begins with the same part.
  void claim_all(int thread) {
    const auto n_parts = static_cast<int>(parts.size());
    for (int i = 0; i < n_parts; ++i) claim_part(parts[static_cast<size_t>((thread + i) % n_parts)], thread);
  }

  void claim_part(Part& part, int thread) {
    for (int64_t first = part.next.load(std::memory_order_relaxed); first < part.end;) {
      const int64_t last = first + std::max<int64_t>(1, (part.end - first) / kClaimsOfRest);
      if (!part.next.compare_exchange_weak(first, last, std::memory_order_relaxed)) continue;
      for (int64_t chunk = first; chunk < last; ++chunk) call(work, chunk, thread);
      first = part.next.load(std::memory_order_relaxed);
    }
  }

  void share_out(int64_t n_chunks) {
    const auto n_parts = static_cast<int64_t>(parts.size());
    for (int64_t i = 0; i < n_parts; ++i) {
      Part& part = parts[static_cast<size_t>(i)];
      part.next.store(n_chunks * i / n_parts, std::memory_order_relaxed);
      part.end = n_chunks * (i + 1) / n_parts;
    }
  }

  bool try_join() {
    uint32_t seen = gate.load(std::memory_order_relaxed);
    while ((seen & kOpen) != 0) {
      if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  void serve(int thread) {
    uint32_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && generation.load(std::memory_order_acquire) == seen; ++spin) relax();
      generation.wait(seen, std::memory_order_acquire);
      seen = generation.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_relaxed)) return;
      if (!try_join()) continue;
      claim_chunks(thread);
      n_left.fetch_add(1, std::memory_order_acq_rel);
      n_left.notify_one();
    }
  }

  void wake_workers() {
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
  }

  void close_and_wait() {
    const uint32_t n_joined = gate.exchange(0, std::memory_order_acq_rel) & ~kOpen;
    for (int spin = 0; spin < kSpins && n_left.load(std::memory_order_acquire) != n_joined; ++spin) relax();
    for (uint32_t left = n_left.load(std::memory_order_acquire); left != n_joined;
         left = n_left.load(std::memory_order_acquire)) {
      n_left.wait(left, std::memory_order_acquire);
    }
  }
};

ThreadPool::ThreadPool(int n_threads) : n_threads_(1), state_(std::make_unique<State>()) {
  n_threads = std::max(1, n_threads);
  state_->workers.reserve(static_cast<size_t>(n_threads));
  try {
    for (; n_threads_ < n_threads; ++n_threads_) {
      state_->workers.emplace_back([state = state_.get(), thread = n_threads_] { state->serve(thread); });
    }
  } catch (const std::system_error& error) {
    log().warn("threads: expected {}, could start {}: {}", n_threads, n_threads_, error.what());
  }
  state_->parts = std::vector<State::Part>(static_cast<size_t>(n_threads_));
}

ThreadPool::~ThreadPool() {
  state_->stopping.store(true, std::memory_order_relaxed);
  state_->wake_workers();
  for (auto& worker : state_->workers) worker.join();
}

void ThreadPool::run_erased(int64_t n_chunks, Trampoline call, const void* work) {
  if (n_chunks <= 0) return;
  if (profile_ != nullptr) return run_metered(n_chunks, call, work);
  run_chunks(n_chunks, call, work);
}

void ThreadPool::run_chunks(int64_t n_chunks, Trampoline call, const void* work) {
  if (n_threads_ == 1 || n_chunks == 1) {
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) call(work, chunk, 0);
    return;
  }
  CHECK(state_->gate.load(std::memory_order_relaxed) == 0, "a pool runs one call at a time");
  state_->share_out(n_chunks);
  state_->call = call;
  state_->work = work;
  state_->n_left.store(0, std::memory_order_relaxed);
  state_->gate.store(kOpen, std::memory_order_release);
  state_->wake_workers();
  state_->claim_chunks(0);
  state_->close_and_wait();
}

void ThreadPool::run_metered(int64_t n_chunks, Trampoline call, const void* work) {
  const auto started = Profile::Clock::now();
  state_->busy_ns.store(0, std::memory_order_relaxed);
  state_->is_metered = true;
  run_chunks(n_chunks, call, work);
  state_->is_metered = false;
  const int64_t wall_ns = std::chrono::nanoseconds(Profile::Clock::now() - started).count();
  const bool ran_alone = n_threads_ == 1 || n_chunks == 1;  // on the caller
  const int64_t busy_ns = ran_alone ? wall_ns : state_->busy_ns.load(std::memory_order_relaxed);
  profile_->current().waiting_ns += std::max<int64_t>(0, wall_ns - busy_ns / n_threads_);
}

}  // namespace ferrox
