#include "tier/page_key.h"

#include <openssl/evp.h>

#include <bit>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/hex.h"

namespace ferrox {
namespace {

static_assert(std::endian::native == std::endian::little, "tokens are hashed as they lie in memory");

/// What a key is made of comes first, so that no two kinds of keys are hashes of the same bytes.
enum class Purpose : uint8_t { kRoot = 0, kPage = 1, kState = 2 };

/// One SHA-256. The algorithm is looked up once, and each thread keeps its context: half of a page's time otherwise.
class Sha256 {
 public:
  explicit Sha256(Purpose purpose) {
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    CHECK(algorithm != nullptr && EVP_DigestInit_ex2(context(), algorithm, nullptr) == 1, "libcrypto has SHA-256");
    add(&purpose, sizeof purpose);
  }

  void add(const void* data, size_t size_bytes) {
    CHECK(EVP_DigestUpdate(context(), data, size_bytes) == 1, "a hash takes any bytes");
  }

  /// Length first: what follows can't be mistaken for a part of it.
  void add_counted(const void* data, size_t n, size_t element_bytes) {
    const uint64_t count = n;
    add(&count, sizeof count);
    add(data, n * element_bytes);
  }

  PageKey key() {
    PageKey out;
    CHECK(EVP_DigestFinal_ex(context(), out.bytes.data(), nullptr) == 1, "a hash ends");
    return out;
  }

 private:
  static EVP_MD_CTX* context() {
    struct Free {
      void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    static thread_local const std::unique_ptr<EVP_MD_CTX, Free> own(EVP_MD_CTX_new());
    CHECK(own != nullptr, "a hash's context is small");
    return own.get();
  }
};

PageKey chained_key(Purpose purpose, const PageKey& parent, std::span<const int32_t> tokens) {
  Sha256 hash(purpose);
  hash.add(parent.bytes.data(), parent.bytes.size());
  hash.add_counted(tokens.data(), tokens.size(), sizeof(int32_t));
  return hash.key();
}

}  // namespace

uint64_t short_hash(const PageKey& key) {
  uint64_t out;
  std::memcpy(&out, key.bytes.data(), sizeof out);
  return out;
}

PageKey root_key(std::span<const std::byte> model, std::span<const std::byte> name_space) {
  Sha256 hash(Purpose::kRoot);
  hash.add_counted(model.data(), model.size(), 1);
  hash.add_counted(name_space.data(), name_space.size(), 1);
  return hash.key();
}

PageKey next_key(const PageKey& parent, std::span<const int32_t> tokens) {
  return chained_key(Purpose::kPage, parent, tokens);
}

PageKey state_key(const PageKey& parent, std::span<const int32_t> tokens) {
  return chained_key(Purpose::kState, parent, tokens);
}

std::string to_hex(const PageKey& key) { return hex_of(key.bytes); }

std::optional<PageKey> parse_page_key(std::string_view hex) {
  const auto bytes = parse_hex<32>(hex);
  if (!bytes) return std::nullopt;
  return PageKey{*bytes};
}

}  // namespace ferrox
