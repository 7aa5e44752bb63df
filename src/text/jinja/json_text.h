// How does `tojson` write a value?
#pragma once

#include <optional>
#include <string>

#include "text/jinja/build.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

enum class NonAscii : uint8_t { kKeep, kEscape };
enum class KeyOrder : uint8_t { kAsGiven, kSorted };

/// The arguments of Python's json.dumps.
struct JsonStyle {
  std::optional<std::string> indent;  ///< one level; without it all is on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  NonAscii non_ascii = NonAscii::kKeep;
  KeyOrder key_order = KeyOrder::kAsGiven;
};

/// Python's json.dumps(value); strings keep the origin of their bytes. Fails on what JSON can't hold.
Value to_json(Budget& budget, const Value& value, const JsonStyle& style);

}  // namespace ferrox::jinja
