// How does a for loop step, look ahead and recurse?
#include "text/jinja/loop.h"

#include "text/jinja/access.h"
#include "text/jinja/builtin.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"

namespace ferrox::jinja {
namespace {

/// loop.cycle or loop.changed, bound to its loop.
class LoopMethod final : public Object {
 public:
  using Function = Value (*)(Loop& loop, Interpreter& interpreter, const Arguments& arguments);
  LoopMethod(Function function, std::shared_ptr<Loop> loop) : function_(function), loop_(std::move(loop)) {}

  std::string_view type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override {
    return function_(*loop_, interpreter, arguments);
  }
  size_t depth() const override { return loop_->depth() + 1; }

 private:
  Function function_;
  std::shared_ptr<Loop> loop_;
};

/// Ends a loop however it is left.
class LoopEnd {
 public:
  explicit LoopEnd(Loop& loop) : loop_(loop) {}
  ~LoopEnd() { loop_.finish(); }
  LoopEnd(const LoopEnd&) = delete;
  LoopEnd& operator=(const LoopEnd&) = delete;

 private:
  Loop& loop_;
};

}  // namespace

bool Loop::passes(Interpreter& interpreter, const Value& item) const {
  if (!node_.condition) return true;
  const ScopeGuard guard(interpreter, std::make_shared<Scope>(outer_));
  node_.target->assign(interpreter, item);
  return is_true(interpreter.evaluate(*node_.condition));
}

std::optional<Value> Loop::pull(Interpreter& interpreter) {
  while (outer_ != nullptr && fetched_ < items_->items.size()) {
    interpreter.budget().spend_steps(1);
    const Value& item = items_->items[fetched_++];
    if (passes(interpreter, item)) return item;
  }
  return std::nullopt;
}

std::optional<Value> Loop::next(Interpreter& interpreter) {
  if (peek(interpreter) == nullptr) return std::nullopt;
  previous_ = std::move(current_);
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  ++n_steps_;
  return current_;
}

const Value* Loop::peek(Interpreter& interpreter) {
  if (waiting_.empty()) {
    auto item = pull(interpreter);
    if (!item) return nullptr;
    waiting_.push_back(*std::move(item));
  }
  return &waiting_.front();
}

size_t Loop::length(Interpreter& interpreter) {
  while (auto item = pull(interpreter)) waiting_.push_back(*std::move(item));
  return n_steps_ + waiting_.size();
}

Value Loop::neighbour(const std::optional<Value>& item, std::string_view which) const {
  return item ? *item : undefined_value(fmt::format("there is no {} item", which));
}

std::optional<Value> Loop::attribute(Interpreter& interpreter, std::string_view name) {
  if (name == "index") return n_steps_;
  if (name == "index0") return n_steps_ - 1;
  if (name == "first") return n_steps_ == 1;
  if (name == "last") return peek(interpreter) == nullptr;
  if (name == "length") return length(interpreter);
  if (name == "revindex") return length(interpreter) - n_steps_ + 1;
  if (name == "revindex0") return length(interpreter) - n_steps_;
  if (name == "depth") return depth0_ + 1;
  if (name == "depth0") return depth0_;
  if (name == "previtem") return neighbour(previous_, "previous");
  if (name == "nextitem") {
    const Value* item = peek(interpreter);
    return neighbour(item == nullptr ? std::nullopt : std::optional(*item), "next");
  }
  LoopMethod::Function method = nullptr;
  if (name == "cycle") method = [](Loop& loop, Interpreter&, const Arguments& all) { return loop.cycle(all); };
  if (name == "changed") {
    method = [](Loop& loop, Interpreter& running, const Arguments& all) { return Value(loop.changed(running, all)); };
  }
  if (method == nullptr) return std::nullopt;
  return ObjectPtr(std::make_shared<LoopMethod>(method, shared_from_this()));
}

Value Loop::cycle(const Arguments& arguments) const {
  if (arguments.positional.empty()) fail("loop.cycle() needs at least one argument");
  return arguments.positional[(n_steps_ - 1) % arguments.positional.size()];
}

bool Loop::changed(Interpreter& interpreter, const Arguments& arguments) {
  Value now = make_tuple(interpreter.budget(), arguments.positional);
  if (last_changed_ && equal(interpreter.budget(), *last_changed_, now)) return false;
  if (outer_ != nullptr) last_changed_ = std::move(now);
  return true;
}

Value Loop::call(Interpreter& interpreter, const Arguments& arguments) {
  if (node_.recursion == For::Recursion::kNo) {
    fail("the loop must be marked 'recursive' to be called");
  }
  if (arguments.positional.size() != 1 || !arguments.named.empty()) fail("loop() takes one argument");
  if (outer_ == nullptr) fail("loop() is called after its loop has ended");
  const ScopeGuard guard(interpreter, outer_);
  return interpreter.capture([&] { node_.run_over(interpreter, arguments.positional[0], depth0_ + 1); });
}

Flow For::run(Interpreter& interpreter) const { return run_over(interpreter, interpreter.evaluate(*iterable), 0); }

Flow For::run_over(Interpreter& interpreter, const Value& items, size_t depth0) const {
  const ScopePtr outer = interpreter.scope_pointer();
  const auto loop = std::make_shared<Loop>(*this, iterate(interpreter, items), outer, depth0);
  const LoopEnd end(*loop);
  bool ran = false;
  while (const auto item = loop->next(interpreter)) {
    ran = true;
    const ScopeGuard guard(interpreter, std::make_shared<Scope>(outer));
    interpreter.scope().set("loop", ObjectPtr(loop));
    target->assign(interpreter, *item);
    if (interpreter.run(body) == Flow::kBreak) break;
  }
  if (ran) return Flow::kNext;
  const ScopeGuard guard(interpreter, std::make_shared<Scope>(outer));
  return interpreter.run(otherwise);
}

}  // namespace ferrox::jinja
