// Where does the time of a computation go? A tree of named costs, each with its time and the work that it was spent on.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>

namespace ferrox {

/// What was asked of the machine: bytes that come from memory (weights, cached K and V), and operations. A multiply-add
/// counts as two, an exponential or a division as one.
struct Work {
  double bytes = 0;
  double int8_operations = 0;
  double f32_operations = 0;

  Work& operator+=(const Work& other) {
    bytes += other.bytes;
    int8_operations += other.int8_operations;
    f32_operations += other.f32_operations;
    return *this;
  }
};

struct ProfileNode {
  const char* name = "";
  int64_t n_calls = 0;
  int64_t time_ns = 0;     ///< on the calling thread, children included
  int64_t waiting_ns = 0;  ///< of it, what the average thread had no work; children not included
  Work work;               ///< children not included
  std::list<ProfileNode> children;
};

/// Sums of the node and all below it.
Work total_work(const ProfileNode& node);
int64_t total_waiting_ns(const ProfileNode& node);

/// Grows as scopes of one thread open and close. Names must outlive it.
class Profile {
 public:
  using Clock = std::chrono::steady_clock;

  const ProfileNode& root() const { return root_; }

  ProfileNode& open(const char* name);  ///< makes the child of this name current
  void close(ProfileNode& parent) { current_ = &parent; }
  ProfileNode& current() { return *current_; }

 private:
  ProfileNode root_;
  ProfileNode* current_ = &root_;
};

/// Charges its lifetime to `name` below the scope around it. Without a profile it costs one comparison.
class ProfileScope {
 public:
  ProfileScope(Profile* profile, const char* name) : profile_(profile) {
    if (profile_ != nullptr) begin(name);
  }
  ~ProfileScope() {
    if (profile_ != nullptr) end();
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  void begin(const char* name);
  void end();

  Profile* profile_;
  ProfileNode* parent_ = nullptr;
  Profile::Clock::time_point started_;
};

/// Charges work to the innermost open scope.
inline void add_work(Profile* profile, const Work& work) {
  if (profile != nullptr) profile->current().work += work;
}

}  // namespace ferrox
