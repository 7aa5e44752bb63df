// What does a model file say about itself? Typed key-value pairs in file order.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ferrox {

/// One metadata value: any GGUF scalar (integers widened to 64 bits, floats to double), string, or array of those.
/// Strings of arrays view the file's bytes and live as long as its GgufFile; numbers are copied.
using MetaArray = std::variant<std::vector<int64_t>, std::vector<uint64_t>, std::vector<double>, std::vector<bool>,
                               std::vector<std::string_view>>;
using MetaValue = std::variant<int64_t, uint64_t, double, bool, std::string, MetaArray>;

/// What kind of value it is, in words for messages: "unsigned integer", "array of strings".
const char* value_kind(const MetaValue& value);

class Metadata {
 public:
  struct Entry {
    std::string key;
    MetaValue value;
  };

  /// Adds a pair; false when the key is there already.
  bool add(std::string key, MetaValue value);

  std::span<const Entry> entries() const { return entries_; }
  const MetaValue* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }

  // Required values: an absent key (kNotFound), a value of another type or out of range (kCorrupt) is an error that
  // names key and finding. An integer answers get_float too, a signed one that isn't negative get_uint.
  Result<uint64_t> get_uint(std::string_view key) const;
  Result<double> get_float(std::string_view key) const;
  Result<bool> get_bool(std::string_view key) const;
  Result<std::string> get_string(std::string_view key) const;

  // Optional values: `fallback` when the key is absent; a value of another type is still an error.
  Result<uint64_t> get_uint_or(std::string_view key, uint64_t fallback) const;
  Result<double> get_float_or(std::string_view key, double fallback) const;
  Result<bool> get_bool_or(std::string_view key, bool fallback) const;
  Result<std::string> get_string_or(std::string_view key, std::string fallback) const;

  // Arrays; an integer array answers get_floats too. An absent key is an error of code kNotFound. An empty array
  // answers every getter: writers give it any element type.
  Result<std::vector<uint64_t>> get_uints(std::string_view key) const;
  Result<std::vector<int64_t>> get_ints(std::string_view key) const;
  Result<std::vector<float>> get_floats(std::string_view key) const;
  Result<std::vector<bool>> get_bools(std::string_view key) const;
  Result<std::span<const std::string_view>> get_strings(std::string_view key) const;

 private:
  Result<const MetaValue*> require(std::string_view key) const;

  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> index_;  // ordered: no file can choose keys that collide
};

}  // namespace ferrox
