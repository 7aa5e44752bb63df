// What may one caller do, and how much? An entry of the keys file: it has the hash of a key, never the key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ferrox {

using KeyDigest = std::array<uint8_t, 32>;

/// What requests may ask for in their field `priority`; a lower number goes first.
inline constexpr int32_t kFirstPriority = -100;
inline constexpr int32_t kLastPriority = 100;

struct ApiKey {
  std::string name;                          ///< 1 to 64 of A-Z a-z 0-9 _ . -
  KeyDigest sha256{};                        ///< of the key's bytes
  double weight = 1;                         ///< of its share of the engine; more than 0
  std::optional<int64_t> max_requests;       ///< answers that may wait or run at once; absent: any number
  std::optional<int64_t> tokens_per_minute;  ///< of prompts and answers; absent: any number
  int32_t priority = 0;                      ///< the lowest number that its requests may ask for
  bool is_admin = false;                     ///< may do what concerns other callers
};

/// SHA-256 of the bytes.
KeyDigest digest_of(std::string_view text);

/// The entry of a key that the command line gave: "key-" and the first 12 digits of its hash; it may do everything.
ApiKey unlimited_key(std::string_view key);

/// A key that nobody can guess: "fx-" and 64 hexadecimal digits of OpenSSL's random source. kIo: it has none.
Result<std::string> make_random_key();

}  // namespace ferrox
