// Where does chance come from? A counter-based generator: a number depends on seed, token and draw, on nothing else.
#pragma once

#include <cstdint>

namespace ferrox {

/// The draws of one token of one answer. Draw d of token t under seed s is mix(mix(s) + t * kTokenStep + d *
/// kDrawStep), mix being the 64-bit finaliser of SplitMix64 (Steele, Lea, Flood 2014): a token that is sampled again,
/// after a rejected draft or a pause, sees the same numbers.
class TokenRng {
 public:
  TokenRng(uint64_t seed, int64_t token_index) : state_(mix(seed) + static_cast<uint64_t>(token_index) * kTokenStep) {}

  /// The next draw: uniform in [0, 1), 53 bits.
  double uniform() {
    state_ += kDrawStep;
    return static_cast<double>(mix(state_) >> 11) * 0x1p-53;
  }

 private:
  static constexpr uint64_t kTokenStep = 0xd1b54a32d192ed03u;  // odd, so that tokens never share a counter soon
  static constexpr uint64_t kDrawStep = 0x9e3779b97f4a7c15u;   // 2^64 / golden ratio, as SplitMix64 steps

  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

  uint64_t state_;
};

}  // namespace ferrox
