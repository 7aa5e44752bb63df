// Where are the outside vectors? Tests that need them skip with a clear word when they are absent.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace ferrox::testing {

/// The folder named by environment variable `variable`, when it is set and exists.
inline std::optional<std::filesystem::path> outside_folder(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || !std::filesystem::is_directory(value)) return std::nullopt;
  return std::filesystem::path(value);
}

/// Unpacked model vectors: arch/, quant/, vocab/.
inline std::optional<std::filesystem::path> vector_dir() { return outside_folder("FERROX_VECTORS"); }

/// Real chat templates with their expected renders.
inline std::optional<std::filesystem::path> template_dir() { return outside_folder("FERROX_TEMPLATES"); }

/// Vectors must be there: their absence is a failure, not a skip.
inline bool vectors_required() {
  const char* value = std::getenv("FERROX_REQUIRE_VECTORS");
  return value != nullptr && std::string(value) == "1";
}

/// In a test body: says that n_vectors outside vectors passed through it. `make test` adds them up.
inline void record_vectors(size_t n_vectors) {
  ::testing::Test::RecordProperty("outside_vectors", std::to_string(n_vectors));
}

}  // namespace ferrox::testing

/// In a test body: binds `name` to the folder, or skips (fails when vectors are required).
#define FERROX_VECTORS_OR_SKIP(name, lookup)                                                        \
  const auto name##_found = (lookup);                                                               \
  if (!name##_found) {                                                                              \
    if (::ferrox::testing::vectors_required()) FAIL() << "outside vectors are required but absent"; \
    GTEST_SKIP() << "outside vectors are absent: set FERROX_VECTORS and FERROX_TEMPLATES";          \
  }                                                                                                 \
  const std::filesystem::path& name = *name##_found
