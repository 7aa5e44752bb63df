// Does every row of every layer have memory of its own?
#include "kv/paged_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>

namespace ferrox {
namespace {

KvLayout odd_layout() {
  return {{{.n_kv_heads = 3, .k_dim = 5, .v_dim = 2}, {.n_kv_heads = 1, .k_dim = 1, .v_dim = 7}},
          3,
          DType::kF16,
          DType::kF32};
}

template <class Visit>
void each_row(const PagedStore& store, const Visit& visit) {
  for (size_t i = 0; i < store.layers().size(); ++i) {
    const KvLayerView& layer = store.layers()[i];
    const auto kind = static_cast<size_t>(store.kinds().of_layer[i]);
    for (int32_t page = 0; page < store.n_pages()[kind]; ++page) {
      for (int head = 0; head < layer.n_kv_heads; ++head) {
        for (int row = 0; row < layer.page_rows; ++row) {
          visit(layer.k_row(page, head, row), layer.k_row_bytes);
          visit(layer.v_row(page, head, row), layer.v_row_bytes);
        }
      }
    }
  }
}

TEST(PagedStore, RowsDontOverlapAndAddUpToThePrice) {
  PagedStore store = *PagedStore::create(odd_layout(), {4});
  uint8_t tag = 0;
  uint64_t n_bytes = 0;
  each_row(store, [&](std::byte* row, int32_t row_bytes) {
    std::memset(row, ++tag, static_cast<size_t>(row_bytes));
    n_bytes += static_cast<uint64_t>(row_bytes);
  });
  EXPECT_EQ(n_bytes, store.size_bytes());
  EXPECT_EQ(n_bytes, 4 * kv_page_bytes(odd_layout()));
  const PagedStore moved = std::move(store);
  tag = 0;
  each_row(moved, [&](const std::byte* row, int32_t row_bytes) {
    ++tag;
    for (int32_t i = 0; i < row_bytes; ++i) ASSERT_EQ(static_cast<uint8_t>(row[i]), tag);
  });
}

TEST(PagedStore, FloatsAreAligned) {
  const PagedStore store = *PagedStore::create(odd_layout(), {3});
  for (const KvLayerView& layer : store.layers()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(layer.k) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(layer.v) % 64, 0u);
  }
}

TEST(PagedStore, RefusesWhatTheMachineCantAddress) {
  KvLayout layout{{{.n_kv_heads = 1 << 20, .k_dim = 1 << 20, .v_dim = 1 << 20}}, 65536, DType::kF32, DType::kF32};
  EXPECT_EQ(PagedStore::create(layout, {std::numeric_limits<int32_t>::max()}).error().code, ErrorCode::kMemoryBudget);
  layout.page_rows = 0;
  EXPECT_EQ(PagedStore::create(layout, {1}).error().code, ErrorCode::kInvalidArgument);
}

TEST(PagedStore, AModelWithoutKvHasAStoreToo) {
  const PagedStore store = *PagedStore::create({{}, 32, DType::kF16, DType::kF16}, {});
  EXPECT_TRUE(store.layers().empty());
  EXPECT_EQ(store.size_bytes(), 0u);
}

TEST(PagedStore, KindsHaveStoresOfTheirOwnSize) {
  KvLayout layout = odd_layout();
  layout.layers[1].window = 8;
  PagedStore store = *PagedStore::create(layout, {5, 2});
  uint64_t n_bytes = 0;
  each_row(store, [&](std::byte* row, int32_t row_bytes) {
    std::memset(row, 1, static_cast<size_t>(row_bytes));
    n_bytes += static_cast<uint64_t>(row_bytes);
  });
  EXPECT_EQ(n_bytes, store.size_bytes());
  const std::vector<uint64_t> page_bytes = kv_page_bytes_of_kinds(layout);
  EXPECT_EQ(n_bytes, 5 * page_bytes[0] + 2 * page_bytes[1]);
}

TEST(PagedStore, RowsAreCopiedInEveryLayerOfTheKind) {
  PagedStore store = *PagedStore::create(odd_layout(), {3});
  for (const KvLayerView& layer : store.layers()) {
    for (int head = 0; head < layer.n_kv_heads; ++head) {
      for (int row = 0; row < 3; ++row) {
        std::memset(layer.k_row(0, head, row), 10 * head + row + 1, static_cast<size_t>(layer.k_row_bytes));
        std::memset(layer.v_row(0, head, row), 10 * head + row + 101, static_cast<size_t>(layer.v_row_bytes));
      }
    }
  }
  store.copy_rows(0, 0, 2, 2);
  for (const KvLayerView& layer : store.layers()) {
    for (int head = 0; head < layer.n_kv_heads; ++head) {
      EXPECT_EQ(
          std::memcmp(layer.k_row(0, head, 0), layer.k_row(2, head, 0), static_cast<size_t>(2 * layer.k_row_bytes)), 0);
      EXPECT_EQ(
          std::memcmp(layer.v_row(0, head, 0), layer.v_row(2, head, 0), static_cast<size_t>(2 * layer.v_row_bytes)), 0);
      EXPECT_EQ(*layer.k_row(2, head, 2), std::byte{0}) << "no more rows than were asked for";
    }
  }
}

}  // namespace
}  // namespace ferrox
