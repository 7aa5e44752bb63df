// How is one operation spread over cores? A persistent pool that hands out chunk numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace ferrox {

class Profile;

/// n_threads - 1 workers plus the caller. Workers spin for a short while after each call and then sleep.
/// One thread at a time may call run.
class ThreadPool {
 public:
  /// Where the system refuses a thread, the pool has fewer; n_threads() tells.
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const { return n_threads_; }

  /// While a profile is set, what threads wait inside `run` is charged to its open scope. It must outlive its use;
  /// nullptr, as at first: none.
  void set_profile(Profile* profile) { profile_ = profile; }
  Profile* profile() const { return profile_; }

  /// Calls work(chunk, thread) once for each chunk in [0, n_chunks); thread is in [0, n_threads). Each thread begins
  /// with its part of them, the same whenever there are as many, and then takes over what others haven't begun. Returns
  /// when all are done. `work` must not throw.
  template <class Work>
  void run(int64_t n_chunks, const Work& work) {
    run_erased(
        n_chunks, [](const void* w, int64_t chunk, int thread) { (*static_cast<const Work*>(w))(chunk, thread); },
        &work);
  }

 private:
  using Trampoline = void (*)(const void* work, int64_t chunk, int thread);
  struct State;

  void run_erased(int64_t n_chunks, Trampoline call, const void* work);
  void run_chunks(int64_t n_chunks, Trampoline call, const void* work);
  void run_metered(int64_t n_chunks, Trampoline call, const void* work);

  int n_threads_;
  Profile* profile_ = nullptr;
  std::unique_ptr<State> state_;
};

}  // namespace ferrox
