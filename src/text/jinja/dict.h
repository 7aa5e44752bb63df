// How does a template's dict find a key and keep its order?
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace ferrox::jinja {

/// An insertion-ordered map. Keys are what Python can hash here: none, bool, numbers, strings, tuples of those;
/// 1, 1.0 and true are one key. It is built with set() and then shared as const.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  size_t size() const { return entries_.size(); }
  const std::vector<Entry>& entries() const { return entries_; }
  size_t depth() const { return depth_; }

  /// The value of a key, or null; null too for a key that can't be hashed.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;

  /// Replaces the value of a key in place, or adds it at the end. Fails on a key that can't be hashed.
  void set(Value key, Value value);

 private:
  size_t locate(const Value& key, size_t hash) const;

  std::vector<Entry> entries_;
  std::unordered_multimap<size_t, size_t> index_;  // hash -> place in entries_, once there are enough to be worth it
  size_t depth_ = 1;
};

/// Can the value be a key? Tuples are keys when they are short and hold scalars.
bool is_hashable(const Value& value);

}  // namespace ferrox::jinja
