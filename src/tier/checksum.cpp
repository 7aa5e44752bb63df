#include "tier/checksum.h"

#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // the widest registers that this CPU has
#endif

#include <cstring>

#include "base/check.h"

namespace ferrox {
namespace {

Checksum canonical(const XXH128_hash_t& hash) {
  XXH128_canonical_t out;
  XXH128_canonicalFromHash(&out, hash);
  Checksum sum;
  static_assert(sizeof out.digest == sizeof sum.bytes);
  std::memcpy(sum.bytes.data(), out.digest, sizeof out.digest);
  return sum;
}

}  // namespace

struct ChecksumStream::State {
  XXH3_state_t* xxh;
};

ChecksumStream::ChecksumStream() : state_(new State{XXH3_createState()}) {
  CHECK(state_->xxh != nullptr && XXH3_128bits_reset(state_->xxh) == XXH_OK, "a checksum's state is small");
}

ChecksumStream::~ChecksumStream() { XXH3_freeState(state_->xxh); }

void ChecksumStream::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}

Checksum ChecksumStream::take() {
  const Checksum sum = canonical(XXH3_128bits_digest(state_->xxh));
  XXH3_128bits_reset(state_->xxh);
  return sum;
}

Checksum checksum_of(std::span<const std::byte> bytes) { return canonical(XXH3_128bits(bytes.data(), bytes.size())); }

}  // namespace ferrox
