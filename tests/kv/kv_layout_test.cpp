// Does one page cost what it takes, and is what can't be stored refused by name?
#include "kv/kv_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tensor/kv_type.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;

KvLayout layout_of(int n_layers, int n_kv_heads, int head_dim, DType type, int32_t page_rows = 1) {
  std::vector<KvLayerShape> layers(static_cast<size_t>(n_layers),
                                   {.n_kv_heads = n_kv_heads, .k_dim = head_dim, .v_dim = head_dim});
  return {layers, page_rows, type, type};
}

TEST(KvLayout, PricesPublishedShapes) {
  EXPECT_EQ(kv_page_bytes(layout_of(32, 8, 128, DType::kF32)), 262144u);  // Llama-3.1-8B, bytes a token
  EXPECT_EQ(kv_page_bytes(layout_of(32, 8, 128, DType::kF16)), 131072u);
  EXPECT_EQ(kv_page_bytes(layout_of(24, 8, 64, DType::kF32)) * 131072u, 12884901888u);  // gpt-oss-20b at 131,072
  EXPECT_EQ(kv_page_bytes(layout_of(32, 8, 128, DType::kBF16, 32)), 32u * 131072u);
}

TEST(KvLayout, KAndVMayDiffer) {
  KvLayout layout = layout_of(1, 4, 192, DType::kF16, 16);
  layout.layers[0].v_dim = 128;
  layout.v_type = DType::kF32;
  EXPECT_EQ(kv_page_bytes(layout), 4u * 16u * (192u * 2u + 128u * 4u));
}

TEST(KvLayout, RefusesByName) {
  KvLayout layout = layout_of(1, 4, 64, DType::kF16);
  layout.v_type = DType::kQ4_K;
  EXPECT_THAT(validate_layout(layout).error().message,
              HasSubstr("V type is Q4_K, expected f16, bf16, f32, q8_0, q4_0 or turbo4"));
  layout = layout_of(1, 4, 64, DType::kF16, 0);
  EXPECT_THAT(validate_layout(layout).error().message, HasSubstr("page size is 0"));
  layout = layout_of(1, 0, 64, DType::kF16);
  EXPECT_THAT(validate_layout(layout).error().message, HasSubstr("layer 0 has 0 heads"));
  layout = layout_of(1, 1, std::numeric_limits<int>::max(), DType::kF16);
  EXPECT_FALSE(validate_layout(layout));
  EXPECT_TRUE(validate_layout(layout_of(2, 1, 33, DType::kF32)));
}

TEST(KvLayout, EveryTypeIsAllowedForKAndVApart) {
  for (const KvType& k : kKvTypes) {
    for (const KvType& v : kKvTypes) {
      KvLayout layout = layout_of(1, 4, 64, k.dtype);
      layout.v_type = v.dtype;
      EXPECT_TRUE(validate_layout(layout)) << k.name << " and " << v.name;
      EXPECT_EQ(kv_page_bytes(layout),
                4u * 64u * static_cast<uint64_t>(k.block_bytes) / static_cast<uint64_t>(k.block_elements) +
                    4u * 64u * static_cast<uint64_t>(v.block_bytes) / static_cast<uint64_t>(v.block_elements));
    }
  }
}

TEST(KvLayout, RowsThatBlocksDontDivideAreRefused) {
  KvLayout layout = layout_of(2, 1, 64, DType::kF16);
  layout.layers[1].v_dim = 80;
  layout.v_type = DType::kTurbo4;
  EXPECT_EQ(validate_layout(layout).error().message,
            "KV cache: V rows of layer 1 are 80 wide, expected a multiple of 32 for turbo4");
  EXPECT_EQ(validate_layout(layout).error().code, ErrorCode::kUnsupported);
  layout.layers[1].v_dim = 96;
  EXPECT_TRUE(validate_layout(layout));
  layout.k_type = DType::kQ4_0;
  layout.layers[0].k_dim = 16;
  EXPECT_EQ(validate_layout(layout).error().message,
            "KV cache: K rows of layer 0 are 16 wide, expected a multiple of 32 for q4_0");
}

TEST(KvLayout, BlockTypesCostTheirBlocks) {
  EXPECT_EQ(kv_page_bytes(layout_of(32, 8, 128, DType::kQ8_0)), 69632u);
  EXPECT_EQ(kv_page_bytes(layout_of(32, 8, 128, DType::kTurbo4)), 36864u);
  EXPECT_EQ(kv_page_bytes(layout_of(32, 8, 128, DType::kQ4_0)), 36864u);
}

TEST(KvLayout, TypesAreFoundByNameAndUnknownOnesRefusedWithTheList) {
  for (const KvType& type : kKvTypes) EXPECT_EQ(*parse_kv_type(type.name), type.dtype);
  EXPECT_EQ(parse_kv_type("q5_1").error().message,
            "KV cache type 'q5_1': expected f16, bf16, f32, q8_0, q4_0 or turbo4");
}

TEST(KvLayout, KindsArePricedApart) {
  KvLayout layout = layout_of(3, 2, 8, DType::kF16, 4);
  layout.layers[1].window = 16;
  EXPECT_EQ(kv_page_bytes_of_kinds(layout), (std::vector<uint64_t>{2 * 256, 256}));
  EXPECT_EQ(kv_page_bytes(layout), 3u * 256u);
}

TEST(KvLayout, PagesRoundUp) {
  EXPECT_EQ(kv_pages_for(0, 32), 0);
  EXPECT_EQ(kv_pages_for(1, 32), 1);
  EXPECT_EQ(kv_pages_for(32, 32), 1);
  EXPECT_EQ(kv_pages_for(33, 32), 2);
  EXPECT_EQ(kv_pages_for(std::numeric_limits<int64_t>::max(), 1), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace ferrox
