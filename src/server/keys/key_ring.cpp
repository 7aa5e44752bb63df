// How is a key compared with all entries?
#include "server/keys/key_ring.h"

#include <openssl/crypto.h>

#include <utility>

#include "server/access.h"

namespace ferrox {

Result<KeyRing> KeyRing::make(std::vector<ApiKey> keys) {
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (keys[i].name != keys[j].name && keys[i].sha256 != keys[j].sha256) continue;
      const bool same_name = keys[i].name == keys[j].name;
      return make_error(ErrorCode::kInvalidArgument, "api keys: expected each {} once, found that of '{}' twice",
                        same_name ? "name" : "key", keys[j].name);
    }
  }
  return KeyRing(std::move(keys));
}

const ApiKey* KeyRing::find(std::string_view key) const {
  const KeyDigest digest = digest_of(key);
  const ApiKey* found = nullptr;
  for (const ApiKey& entry : keys_) {
    if (CRYPTO_memcmp(digest.data(), entry.sha256.data(), digest.size()) == 0) found = &entry;
  }
  return key.empty() ? nullptr : found;
}

const ApiKey* KeyRing::find_caller(const HttpRequest& request) const {
  const ApiKey* const bearer = find(bearer_key(request.header("authorization")));
  return bearer != nullptr ? bearer : find(request.header("x-api-key"));
}

}  // namespace ferrox
