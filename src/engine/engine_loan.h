// Who destroys what only the engine thread may touch, when another thread holds it? The engine thread.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <utility>

namespace ferrox {

/// Runs something on the engine thread between two steps; false: it never will, and lets go of it unrun.
using EnginePost = std::function<bool(std::function<void()>)>;

/// A T that is made and destroyed on the engine thread and belongs to another one's work. However that ends, by an
/// exception as well, the T goes where it was made. It is left behind, and what it holds with it, where that can't be:
/// an engine that takes no more work gives all pages back at once.
template <class T>
class EngineLoan {
 public:
  /// `post` must outlive this.
  explicit EngineLoan(const EnginePost& post) : post_(post) {}
  EngineLoan(const EngineLoan&) = delete;
  EngineLoan& operator=(const EngineLoan&) = delete;
  ~EngineLoan() {
    T* const lent = lent_.release();
    if (lent == nullptr) return;
    try {
      post_([lent] { delete lent; });
    } catch (const std::bad_alloc&) {  // it stays
    }
  }

  // On the engine thread.
  template <class... Args>
  void make(Args&&... args) {
    lent_ = std::make_unique<T>(std::forward<Args>(args)...);
  }
  void end() { lent_.reset(); }

  T& operator*() const { return *lent_; }
  T* operator->() const { return lent_.get(); }

 private:
  const EnginePost& post_;
  std::unique_ptr<T> lent_;
};

}  // namespace ferrox
