// Is the format registry a sound table, and does each row's unpack keep the promises that products build on?
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats_list.inl"
#include "tensor/format.h"

namespace ferrox {
namespace {

using namespace std::string_view_literals;

TEST(FormatRegistry, NamesAndNumbersAreUniqueAndFound) {
  std::set<std::string> names;
  std::set<DType> dtypes;
  for (const auto* const* row = all_format; *row != nullptr; ++row) {
    const auto& format = **row;
    SCOPED_TRACE(format.name);
    EXPECT_TRUE(names.insert(format.name).second);
    EXPECT_TRUE(dtypes.insert(format.dtype).second);
    EXPECT_EQ(find_format(format.dtype), &format);
    EXPECT_EQ(find_format(std::string_view(format.name)), &format);
    EXPECT_GT(format.block_elements, 0);
    EXPECT_GT(format.block_bytes, 0);
  }
}

TEST(FormatRegistry, NamesIgnoreCaseAndStrangersAreAbsent) {
  ASSERT_NE(find_format("q4_k"sv), nullptr);
  EXPECT_EQ(find_format("q4_k"sv), find_format("Q4_K"sv));
  EXPECT_EQ(find_format("Q4"sv), nullptr);
  EXPECT_EQ(find_format(""sv), nullptr);
  EXPECT_EQ(find_format(DType::kI32), nullptr);
  EXPECT_EQ(find_format(static_cast<DType>(-1)), nullptr);
}

// Scales of a format's blocks as doubles, so that both kinds are judged alike.
struct SubBlock {
  double scale;
  double min;
};

template <class Format>
std::vector<SubBlock> unpack_block(const uint8_t* block, uint8_t* codes) {
  std::vector<SubBlock> out;
  constexpr int kSubBlocks = Format::kBlock / Format::kSub;
  if constexpr (Format::kScale == ScaleKind::kReal) {
    RealScales scales;
    Format::unpack(block, codes, scales);
    for (int i = 0; i < kSubBlocks; ++i) out.push_back({scales.scale[i], Format::kHasMin ? scales.min[i] : 0.0});
  } else {
    IntegerScales scales;
    Format::unpack(block, codes, scales);
    for (int i = 0; i < kSubBlocks; ++i) {
      EXPECT_LE(std::abs(scales.scale[i]), 128);
      if (Format::kHasMin) {
        EXPECT_TRUE(scales.min[i] >= 0 && scales.min[i] <= 127) << scales.min[i];
      }
      out.push_back({double{scales.d} * scales.scale[i], Format::kHasMin ? double{scales.dmin} * scales.min[i] : 0.0});
    }
  }
  return out;
}

// scale * (code - zero) - min in double precision, within two float roundings of each term.
template <class Format>
void expect_unpack_agrees(const uint8_t* block) {
  uint8_t codes[Format::kBlock];
  float decoded[Format::kBlock];
  Format::decode(block, decoded);
  const auto sub_blocks = unpack_block<Format>(block, codes);
  for (int i = 0; i < Format::kBlock; ++i) {
    const auto [scale, min] = sub_blocks[static_cast<size_t>(i / Format::kSub)];
    const double term = scale * (codes[i] - Format::kZero);
    if (!std::isfinite(decoded[i])) {
      ASSERT_FALSE(std::isfinite(static_cast<float>(term - min)));
      continue;
    }
    const double tolerance = 0x1p-23 * (std::abs(term) + std::abs(min));
    ASSERT_NEAR(decoded[i], term - min, tolerance) << "weight " << i;
  }
}

template <class Format>
void check_unpack() {
  if constexpr (Format::kScale != ScaleKind::kFloat) {
    SCOPED_TRACE(Format::kName);
    static_assert(Format::kSub == 16 || Format::kSub == 32);
    static_assert(Format::kBlock % Format::kSub == 0 && Format::kBlock / Format::kSub <= 16);
    static_assert(Format::kScale == ScaleKind::kReal || Format::kBlock == 256);
    static_assert(Format::kZero >= 0 && Format::kZero <= 128);
    std::mt19937 rng(1);
    std::vector<uint8_t> block(Format::kBytes);
    for (int trial = 0; trial < 200; ++trial) {
      for (auto& byte : block) byte = static_cast<uint8_t>(rng());
      expect_unpack_agrees<Format>(block.data());
    }
  }
}

TEST(FormatRegistry, UnpackAgreesWithDecodeOnRandomBlocks) {
#define FORMAT(format) check_unpack<format>();
  ALL_FORMATS
#undef FORMAT
}

// Every value of every byte in turn, over blocks of zeros: no code or scale bit is out of the promised range.
template <class Format>
void check_each_byte() {
  if constexpr (Format::kScale != ScaleKind::kFloat) {
    SCOPED_TRACE(Format::kName);
    std::vector<uint8_t> block(Format::kBytes);
    for (auto& byte : block) {
      for (int value = 255; value >= 0; --value) {
        byte = static_cast<uint8_t>(value);
        expect_unpack_agrees<Format>(block.data());
      }
    }
  }
}

TEST(FormatRegistry, UnpackAgreesWithDecodeForEveryByte) {
#define FORMAT(format) check_each_byte<format>();
  ALL_FORMATS
#undef FORMAT
}

}  // namespace
}  // namespace ferrox
