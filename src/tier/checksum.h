// Are these the bytes that were written? XXH3-128, over pieces in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ferrox {

struct Checksum {
  std::array<uint8_t, 16> bytes{};
  friend bool operator==(const Checksum&, const Checksum&) = default;
};

/// The pieces' sum doesn't depend on where they are cut.
class ChecksumStream {
 public:
  ChecksumStream();
  ~ChecksumStream();
  void add(std::span<const std::byte> bytes);
  Checksum take();  ///< of everything added since the last take

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Checksum checksum_of(std::span<const std::byte> bytes);

}  // namespace ferrox
