// What does every code of the small formats stand for? Each code of each format with a scale of one, against its
// definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include "tensor/format.h"

namespace ferrox {
namespace {

using Bytes = std::vector<uint8_t>;

const uint8_t kOne[] = {0x00, 0x3c};  // 1 as F16
const uint8_t kTwo[] = {0x00, 0x40};

std::vector<float> decode(DType dtype, const Bytes& bytes) {
  const auto* format = find_format(dtype);
  EXPECT_EQ(bytes.size() % static_cast<size_t>(format->block_bytes), 0u);
  const auto n = static_cast<int64_t>(bytes.size()) / format->block_bytes * format->block_elements;
  std::vector<float> out(static_cast<size_t>(n));
  format->decode(reinterpret_cast<const std::byte*>(bytes.data()), out.data(), n);
  return out;
}

void put(Bytes& block, size_t at, std::initializer_list<uint8_t> bytes) {
  std::copy(bytes.begin(), bytes.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
}

TEST(FormatCodes, AllHalves) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto found = decode(DType::kF16, {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)})[0];
    const double sign = bits >> 15 ? -1.0 : 1.0;
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const int mantissa = static_cast<int>(bits & 1023);
    if (exponent == 31) {
      EXPECT_TRUE(mantissa != 0 ? std::isnan(found) : found == sign * std::numeric_limits<double>::infinity());
      continue;
    }
    const double expected = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(found, sign * expected) << bits;
  }
}

TEST(FormatCodes, AllBrainFloats) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto found = decode(DType::kBF16, {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)})[0];
    const uint32_t expected = bits << 16;
    ASSERT_EQ(std::memcmp(&found, &expected, sizeof found), 0) << bits;
  }
}

TEST(FormatCodes, Q8_0) {
  for (int value = -128; value < 128; ++value) {
    Bytes block(34);
    put(block, 0, {kTwo[0], kTwo[1]});
    block[2 + 31] = static_cast<uint8_t>(value);
    ASSERT_EQ(decode(DType::kQ8_0, block)[31], 2.0f * static_cast<float>(value));
  }
}

// A block of 32 with nibbles: byte i of `nibbles_at` holds codes i and 16 + i.
void expect_nibbles(DType dtype, Bytes block, size_t nibbles_at, const std::vector<float>& meaning) {
  for (int value = 0; value < 256; ++value) {
    for (size_t i = 0; i < 16; ++i) {
      block[nibbles_at + i] = static_cast<uint8_t>(value);
      const auto found = decode(dtype, block);
      ASSERT_EQ(found[i], meaning[value & 15]) << value;
      ASSERT_EQ(found[16 + i], meaning[value >> 4]) << value;
    }
  }
}

std::vector<float> line(float scale, float offset) {
  std::vector<float> out;
  for (int i = 0; i < 16; ++i) out.push_back(scale * static_cast<float>(i) + offset);
  return out;
}

TEST(FormatCodes, FourBitBlocks) {
  Bytes block(18);
  put(block, 0, {kTwo[0], kTwo[1]});
  expect_nibbles(DType::kQ4_0, block, 2, line(2, -16));
  const std::vector<float> steps = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  put(block, 0, {kOne[0], kOne[1]});
  expect_nibbles(DType::kIQ4_NL, block, 2, steps);
  Bytes with_min(20);
  put(with_min, 0, {kTwo[0], kTwo[1], kOne[0], kOne[1]});
  expect_nibbles(DType::kQ4_1, with_min, 4, line(2, 1));
}

TEST(FormatCodes, FiveBitBlocks) {
  Bytes low(22);
  put(low, 0, {kTwo[0], kTwo[1]});
  expect_nibbles(DType::kQ5_0, low, 6, line(2, -32));
  Bytes high = low;
  put(high, 2, {0xff, 0xff, 0xff, 0xff});
  expect_nibbles(DType::kQ5_0, high, 6, line(2, 0));
  Bytes with_min(24);
  put(with_min, 0, {kTwo[0], kTwo[1], kOne[0], kOne[1]});
  expect_nibbles(DType::kQ5_1, with_min, 8, line(2, 1));
  put(with_min, 4, {0xff, 0xff, 0xff, 0xff});
  expect_nibbles(DType::kQ5_1, with_min, 8, line(2, 33));
}

TEST(FormatCodes, FifthBitsFollowTheWeightsOrder) {
  for (size_t bit = 0; bit < 32; ++bit) {
    Bytes block(22);
    put(block, 0, {kOne[0], kOne[1]});
    block[2 + bit / 8] = static_cast<uint8_t>(1u << bit % 8);
    const auto found = decode(DType::kQ5_0, block);
    for (size_t i = 0; i < 32; ++i) ASSERT_EQ(found[i], i == bit ? 0.0f : -16.0f);
  }
}

const float kE2m1[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0f, -0.5, -1, -1.5, -2, -3, -4, -6};

TEST(FormatCodes, Mxfp4HasEveryExponent) {
  for (int exponent = 0; exponent < 256; ++exponent) {
    for (int nibble = 0; nibble < 16; ++nibble) {
      Bytes block(17);
      block[0] = static_cast<uint8_t>(exponent);
      block[1] = static_cast<uint8_t>(nibble);
      const auto expected = static_cast<float>(std::ldexp(double{kE2m1[nibble]}, exponent - 127));
      ASSERT_EQ(decode(DType::kMXFP4, block)[0], expected) << exponent << ' ' << nibble;
    }
  }
}

TEST(FormatCodes, Nvfp4HasEveryScale) {
  for (int scale = 0; scale < 256; ++scale) {
    for (int nibble = 0; nibble < 16; ++nibble) {
      Bytes block(36);
      block[2] = static_cast<uint8_t>(scale);
      block[4 + 2 * 8 + 3] = static_cast<uint8_t>(nibble << 4);  // sub-block 2, weight 8 + 3
      const int exponent = scale >> 3 & 15;
      const double mantissa = (scale & 7) / 8.0;
      double expected = exponent == 0 ? std::ldexp(mantissa, -6) : std::ldexp(1 + mantissa, exponent - 7);
      if (scale == 0x7f) expected = 0;  // the NaN
      ASSERT_EQ(decode(DType::kNVFP4, block)[2 * 16 + 11], static_cast<float>(expected * kE2m1[nibble]));
    }
  }
}

TEST(FormatCodes, OneAndTwoBitBlocks) {
  for (int value = 0; value < 256; ++value) {
    Bytes block(18);
    put(block, 0, {kTwo[0], kTwo[1]});
    block[2 + 9] = static_cast<uint8_t>(value);
    const auto ones = decode(DType::kQ1_0, block);
    for (int k = 0; k < 8; ++k) ASSERT_EQ(ones[static_cast<size_t>(72 + k)], value >> k & 1 ? 2.0f : -2.0f);
    const auto twos = decode(DType::kQ2_0, block);
    for (int k = 0; k < 4; ++k) {
      ASSERT_EQ(twos[static_cast<size_t>(36 + k)], 2.0f * static_cast<float>((value >> 2 * k & 3) - 1));
    }
  }
}

// Five base-3 digits t0 to t4, the first most significant, are stored as ceil(256 / 243 * their number).
TEST(FormatCodes, Tq1_0HasEveryTernaryNumber) {
  for (int number = 0; number < 243; ++number) {
    Bytes block(54);
    put(block, 52, {kOne[0], kOne[1]});
    block[7] = block[32 + 7] = static_cast<uint8_t>((number * 256 + 242) / 243);
    const auto found = decode(DType::kTQ1_0, block);
    int rest = number;
    for (size_t digit = 5; digit-- > 0; rest /= 3) {
      ASSERT_EQ(found[32 * digit + 7], static_cast<float>(rest % 3 - 1)) << number;
      ASSERT_EQ(found[160 + 16 * digit + 7], static_cast<float>(rest % 3 - 1)) << number;
    }
  }
}

}  // namespace
}  // namespace ferrox
