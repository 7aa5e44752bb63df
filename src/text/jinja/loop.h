// What does `loop` know inside a for loop?
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "text/jinja/object.h"
#include "text/jinja/scope.h"
#include "text/jinja/statement.h"

namespace ferrox::jinja {

/// Walks the items of a for loop, the ones its condition lets through, and answers `loop.index` and the like.
class Loop final : public Object, public std::enable_shared_from_this<Loop> {
 public:
  Loop(const For& node, SequencePtr items, ScopePtr outer, size_t depth0)
      : node_(node), items_(std::move(items)), outer_(std::move(outer)), depth0_(depth0) {}

  /// Steps to the next item; nothing at the end.
  std::optional<Value> next(Interpreter& interpreter);
  /// Called when the loop ends: a loop object that outlives its loop keeps no scope and no ring of values.
  void finish() {
    outer_ = nullptr;
    last_changed_.reset();
  }

  std::string_view type_name() const override { return "LoopContext"; }
  bool is_callable() const override { return true; }
  /// loop(items) in a recursive loop: runs it over them and returns what it writes.
  Value call(Interpreter& interpreter, const Arguments& arguments) override;
  std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;
  size_t depth() const override { return items_->depth + 1; }

  Value cycle(const Arguments& arguments) const;
  bool changed(Interpreter& interpreter, const Arguments& arguments);

 private:
  /// Fetches items until one passes the condition.
  std::optional<Value> pull(Interpreter& interpreter);
  bool passes(Interpreter& interpreter, const Value& item) const;
  const Value* peek(Interpreter& interpreter);
  size_t length(Interpreter& interpreter);
  Value neighbour(const std::optional<Value>& item, std::string_view which) const;

  const For& node_;
  SequencePtr items_;
  ScopePtr outer_;  // where the loop stands; null once it has ended
  size_t depth0_;
  size_t fetched_ = 0;         // of items_
  std::deque<Value> waiting_;  // fetched and passed, not yet stepped to
  size_t n_steps_ = 0;
  std::optional<Value> previous_;
  std::optional<Value> current_;
  std::optional<Value> last_changed_;
};

}  // namespace ferrox::jinja
