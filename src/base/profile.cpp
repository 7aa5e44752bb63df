#include "base/profile.h"

#include <cstring>

namespace ferrox {

Work total_work(const ProfileNode& node) {
  Work work = node.work;
  for (const ProfileNode& child : node.children) work += total_work(child);
  return work;
}

int64_t total_waiting_ns(const ProfileNode& node) {
  int64_t waiting_ns = node.waiting_ns;
  for (const ProfileNode& child : node.children) waiting_ns += total_waiting_ns(child);
  return waiting_ns;
}

ProfileNode& Profile::open(const char* name) {
  for (ProfileNode& child : current_->children) {
    if (std::strcmp(child.name, name) == 0) return *(current_ = &child);
  }
  current_->children.emplace_back().name = name;
  return *(current_ = &current_->children.back());
}

void ProfileScope::begin(const char* name) {
  parent_ = &profile_->current();
  profile_->open(name);
  started_ = Profile::Clock::now();
}

void ProfileScope::end() {
  ProfileNode& node = profile_->current();
  node.time_ns += std::chrono::nanoseconds(Profile::Clock::now() - started_).count();
  ++node.n_calls;
  profile_->close(*parent_);
}

}  // namespace ferrox
