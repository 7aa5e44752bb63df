// Which names does a template see at a place?
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace ferrox::jinja {

class Scope;
using ScopePtr = std::shared_ptr<Scope>;

/// Names set at one level; loops, macros, `with` and call blocks open a new one within the old.
class Scope {
 public:
  explicit Scope(ScopePtr outer) : outer_(std::move(outer)) {}

  /// The value of a name here or further out; null when nobody set it.
  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_.get()) {
      if (const Value* value = scope->find_here(name)) return value;
    }
    return nullptr;
  }
  void set(std::string_view name, Value value) {
    if (Value* old = find_here(name)) {
      *old = std::move(value);
    } else {
      names_.emplace_back(name, std::move(value));
    }
  }
  void clear() { names_.clear(); }

 private:
  const Value* find_here(std::string_view name) const { return const_cast<Scope*>(this)->find_here(name); }
  Value* find_here(std::string_view name) {
    const auto found =
        std::find_if(names_.begin(), names_.end(), [name](const auto& entry) { return entry.first == name; });
    return found == names_.end() ? nullptr : &found->second;
  }

  ScopePtr outer_;
  std::vector<std::pair<std::string, Value>> names_;  // few: a linear search beats hashing
};

}  // namespace ferrox::jinja
