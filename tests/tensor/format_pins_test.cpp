// Do the 256-weight formats still decode as they did when they agreed with the outside vectors? A hash of the floats of
// pseudo-random blocks stands for each, so that builds without the vectors see a slip of a bit too.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/format.h"

namespace ferrox {
namespace {

constexpr int kBlocks = 512;

// FNV-1a over the bits of the floats; every NaN counts as the same.
uint64_t hash_of(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const float value : values) {
    uint32_t bits = 0x7fc00000;
    if (!std::isnan(value)) std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (bits >> shift & 255)) * 0x100000001b3;
  }
  return hash;
}

uint64_t decoded_hash(const FormatInfo& format) {
  std::vector<std::byte> blocks(static_cast<size_t>(kBlocks * format.block_bytes));
  uint64_t state = 1;
  for (auto& byte : blocks) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  std::vector<float> values(static_cast<size_t>(kBlocks * format.block_elements));
  format.decode(blocks.data(), values.data(), static_cast<int64_t>(values.size()));
  return hash_of(values);
}

struct Pin {
  DType dtype;
  uint64_t hash;
};

constexpr Pin kPins[] = {
    {DType::kBF16, 0x72acaae335f9c1e0},    {DType::kF16, 0x945e49e0ed2df5be},    {DType::kIQ1_M, 0xdb15f98b84b21620},
    {DType::kIQ1_S, 0x0304c90b305d5c43},   {DType::kIQ2_S, 0x58e3583b58bd1987},  {DType::kIQ2_XS, 0x1604ccd627b5d325},
    {DType::kIQ2_XXS, 0xdebca7340c7f159a}, {DType::kIQ3_S, 0xf0561cda263776a0},  {DType::kIQ3_XXS, 0xf63f9594a9974a2b},
    {DType::kIQ4_NL, 0xc98902416b061602},  {DType::kIQ4_XS, 0x585bea702708f367}, {DType::kMXFP4, 0xae4507568a874a31},
    {DType::kNVFP4, 0xa61564559d6b2db6},   {DType::kQ1_0, 0xdaaa8eed19f1a125},   {DType::kQ2_0, 0x0bc03caa08ee17af},
    {DType::kQ2_K, 0x5ba1f3f5869c95ac},    {DType::kQ3_K, 0xa2b5526cbfce6865},   {DType::kQ4_0, 0xeed445b0f4495286},
    {DType::kQ4_1, 0xa64404d890f94b52},    {DType::kQ4_K, 0xb76e72798f87eed7},   {DType::kQ5_0, 0x8a4df340b33c4c92},
    {DType::kQ5_1, 0x41250c891cd52c12},    {DType::kQ5_K, 0xb3b27c1ed736294b},   {DType::kQ6_K, 0xe4a719d5d1ab2f10},
    {DType::kQ8_0, 0xba5deea2764bec6e},    {DType::kTQ1_0, 0x29cde1364307938f},  {DType::kTQ2_0, 0x721d425685088081},
};

TEST(FormatPins, DecodeIsUnchanged) {
  for (const auto& pin : kPins) {
    const auto* format = find_format(pin.dtype);
    ASSERT_NE(format, nullptr);
    EXPECT_EQ(decoded_hash(*format), pin.hash) << format->name;
  }
}

}  // namespace
}  // namespace ferrox
