// How are keys made and hashed?
#include "server/keys/api_key.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/check.h"
#include "base/hex.h"

namespace ferrox {

KeyDigest digest_of(std::string_view text) {
  KeyDigest digest;
  unsigned n_bytes = 0;
  const int hashed = EVP_Digest(text.data(), text.size(), digest.data(), &n_bytes, EVP_sha256(), nullptr);
  CHECK(hashed == 1 && n_bytes == digest.size(), "libcrypto has SHA-256");
  return digest;
}

ApiKey unlimited_key(std::string_view key) {
  constexpr size_t kShownDigits = 12;  // enough that no two keys of a server share them
  ApiKey entry;
  entry.sha256 = digest_of(key);
  entry.name = "key-" + hex_of(entry.sha256).substr(0, kShownDigits);
  entry.priority = kFirstPriority;
  entry.is_admin = true;
  return entry;
}

Result<std::string> make_random_key() {
  std::array<uint8_t, 32> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return make_error(ErrorCode::kIo, "random key: expected OpenSSL's random source, found it not ready");
  }
  return "fx-" + hex_of(bytes);
}

}  // namespace ferrox
