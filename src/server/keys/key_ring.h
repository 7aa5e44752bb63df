// Whose key is this? Every key of a server, found by its hash.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "server/http/message.h"
#include "server/keys/api_key.h"

namespace ferrox {

/// Entries stay where they are: a pointer to one names a caller for as long as the ring lives.
class KeyRing {
 public:
  KeyRing() = default;

  /// kInvalidArgument: two entries of one name or of one key.
  static Result<KeyRing> make(std::vector<ApiKey> keys);

  /// The entry of a key; nullptr: none. Compares every hash whole, whichever matches, so that the time tells nothing.
  const ApiKey* find(std::string_view key) const;

  /// Who sends this request: by `authorization: Bearer`, or else by `x-api-key`; nullptr: nobody known.
  const ApiKey* find_caller(const HttpRequest& request) const;

  std::span<const ApiKey> keys() const { return keys_; }
  bool empty() const { return keys_.empty(); }
  size_t size() const { return keys_.size(); }

 private:
  explicit KeyRing(std::vector<ApiKey> keys) : keys_(std::move(keys)) {}

  std::vector<ApiKey> keys_;
};

}  // namespace ferrox
