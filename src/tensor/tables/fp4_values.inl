// Which sixteen values does an E2M1 float have? Sign, two bits of exponent, one of mantissa; doubled they are integers.
#pragma once

namespace ferrox {
namespace {

constexpr int kFp4Zero = 12;

/// 0, 1, 2, 3, 4, 6, 8, 12 and their negatives, each plus kFp4Zero.
constexpr uint8_t kFp4Codes[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

}  // namespace
}  // namespace ferrox
