// How does bad template input travel inside the engine? As one exception that parse() and render() turn into an Error.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace ferrox::jinja {

/// A place in the template source, both counted from 1; columns count bytes.
struct Position {
  size_t line = 1;
  size_t column = 1;
};

/// What went wrong, and where when the thrower knew; the interpreter adds the place of the running node otherwise.
/// It never leaves the engine.
struct Failure {
  std::string message;
  std::optional<Position> position;
};

/// fail(format, args...): throws a Failure at the place of the running node.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{fmt::format(format, std::forward<Args>(args)...), std::nullopt};
}

/// fail_at(position, format, args...): throws a Failure at a known place.
template <class... Args>
[[noreturn]] void fail_at(Position position, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{fmt::format(format, std::forward<Args>(args)...), position};
}

}  // namespace ferrox::jinja
