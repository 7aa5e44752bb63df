// What do random weights of a format look like? Random codes with scales that keep the model's numbers tame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "tensor/format.h"

namespace ferrox::bench {

/// Fills whole blocks of `format` with random codes; decoded weights have about the root mean square `rms`, whatever
/// the format, so that models of all formats have logits of one spread. Errors: a format whose scales this maker
/// doesn't know how to set.
Result<void> fill_random_blocks(const FormatInfo& format, float rms, uint64_t seed, std::span<std::byte> out);

}  // namespace ferrox::bench
