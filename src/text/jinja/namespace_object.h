// What is the one thing that a template may change: namespace()?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/object.h"
#include "text/jinja/scope.h"

namespace ferrox::jinja {

class Namespace final : public Object {
 public:
  std::string_view type_name() const override { return "Namespace"; }
  std::optional<Value> attribute(Interpreter&, std::string_view name) override {
    const Value* value = attributes_.find(name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  void set(std::string_view name, Value value) { attributes_.set(name, std::move(value)); }
  void clear() { attributes_.clear(); }

 private:
  Scope attributes_{nullptr};
};

}  // namespace ferrox::jinja
