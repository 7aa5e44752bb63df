// How is a group of options written as data? One row each: flags, where the value goes, what it may be, one line of
// help.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace ferrox {

/// `T` is the struct that the group fills.
template <class T>
struct OptionRow {
  const char* flags;  ///< CLI11's notation: "-c,--ctx-size"
  std::variant<int32_t T::*, int64_t T::*, uint64_t T::*, float T::*> field;
  double lowest;
  double highest;
  const char* help;
};

/// A CLI11 validator: a finite number from `lowest` to `highest`.
inline CLI::Validator number_within(double lowest, double highest) {
  const auto check = [lowest, highest](std::string& text) {
    double value = 0;
    const bool fits = CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest;
    return fits ? std::string() : fmt::format("expected a number from {} to {}, found '{}'", lowest, highest, text);
  };
  return CLI::Validator(check, "");
}

/// A CLI11 validator: digits alone.
inline CLI::Validator whole_number() {
  const auto check = [](std::string& text) {
    int64_t value = 0;
    const bool is_whole = CLI::detail::lexical_cast(text, value);
    return is_whole ? std::string() : fmt::format("expected a whole number, found '{}'", text);
  };
  return CLI::Validator(check, "");
}

/// The most threads that a command line may ask for: far beyond any machine, far below what breaks one.
inline constexpr int kMostThreads = 4096;

/// A CLI11 validator: an empty value, such as a shell's unset variable, is never what was meant.
inline CLI::Validator not_empty() {
  const auto check = [](std::string& text) { return text.empty() ? "expected a value, found an empty one" : ""; };
  return CLI::Validator([check](std::string& text) { return std::string(check(text)); }, "");
}

/// An option that may be given several times, with one value each time.
inline CLI::Option* add_repeatable(CLI::App& app, const char* flags, std::vector<std::string>& values,
                                   const char* help) {
  return app.add_option(flags, values, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

/// Declares every row on `app` under the heading `group`; values land in `target`, whose own values are the defaults.
template <class T>
void add_options(CLI::App& app, const std::string& group, std::span<const OptionRow<T>> rows, T& target) {
  for (const auto& row : rows) {
    const auto add = [&](auto field) {
      CLI::Option* option = app.add_option(row.flags, target.*field, row.help)
                                ->capture_default_str()
                                ->check(number_within(row.lowest, row.highest))
                                ->group(group);
      if constexpr (std::is_integral_v<std::decay_t<decltype(target.*field)>>) option->check(whole_number());
    };
    std::visit(add, row.field);
  }
}

}  // namespace ferrox
