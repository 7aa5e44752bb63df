// Where does chance come from, the same on every machine? Streams of numbers, each from a seed and a stream's number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferrox {

/// SplitMix64. The standard library's distributions differ between its makers, so they aren't used.
class LoadRandom {
 public:
  LoadRandom(uint64_t seed, uint64_t stream) : state_(seed) { state_ = next() ^ (stream * 0xd1342543de82ef95ULL); }

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

  /// From 0 to 1, without 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// From 0 to n - 1. `n` is at least 1 and below 2^53.
  size_t below(size_t n) { return static_cast<size_t>(uniform() * static_cast<double>(n)); }

 private:
  uint64_t state_;
};

}  // namespace ferrox
