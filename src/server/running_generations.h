// Which exchanges are generating now, by the id that clients know?
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace ferrox {

struct ApiKey;
class Generation;

/// I/O thread only.
class RunningGenerations {
 public:
  void add(const std::string& id, Generation* generation) { by_id_.emplace(id, generation); }
  void remove(const std::string& id) { by_id_.erase(id); }
  size_t size() const { return by_id_.size(); }

  /// `id` may carry the prefix that answers put before it ("chatcmpl-", "msg_"). False: none of this id is running that
  /// `caller` (nullptr: where there are no keys) may cancel: one of its own, or any one for an admin.
  bool cancel(std::string_view id, const ApiKey* caller);
  void cancel_all();

 private:
  std::unordered_map<std::string, Generation*> by_id_;
};

}  // namespace ferrox
