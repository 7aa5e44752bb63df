// Does every row of every layer have memory of its own?
#include "kv/paged_store.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

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

/// System pages of these bytes that take memory.
size_t n_resident(std::span<const std::byte> bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(bytes.data()) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size() + page - 1) / page * page;
  std::vector<unsigned char> resident((end - begin) / page);
  EXPECT_EQ(::mincore(reinterpret_cast<void*>(begin), end - begin, resident.data()), 0);
  return static_cast<size_t>(std::ranges::count_if(resident, [](unsigned char is_there) { return is_there & 1; }));
}

TEST(PagedStore, GivesTheMemoryOfPagesBackAndKeepsThatOfOthers) {
  const KvLayout layout{{{.n_kv_heads = 2, .k_dim = 64, .v_dim = 64}, {.n_kv_heads = 1, .k_dim = 128, .v_dim = 64}},
                        32,
                        DType::kF16,
                        DType::kF16};
  PagedStore store = *PagedStore::create(layout, {64});
  const auto fill = [](const PagedStore& pages) {
    for (int32_t page = 0; page < 64; ++page) {
      for (const auto piece : pages.pieces(0, page)) std::memset(piece.data(), page + 1, piece.size());
    }
  };
  fill(store);
  const auto count = [&store] {
    size_t n = 0;
    const auto first = store.pieces(0, 0);
    const auto last = store.pieces(0, 63);
    for (size_t i = 0; i < first.size(); ++i) {
      n += n_resident({first[i].data(), last[i].data() + last[i].size()});
    }
    return n;
  };
  const size_t n_full = count();
  EXPECT_GE(n_full * static_cast<size_t>(::sysconf(_SC_PAGESIZE)), store.size_bytes());
  store.give_back(0, 8, 40);
  EXPECT_LT(count(), n_full / 2);
  for (const int32_t page : {0, 7, 48, 63}) {
    for (const auto piece : store.pieces(0, page)) {
      for (const std::byte byte : piece) ASSERT_EQ(static_cast<int>(byte), page + 1);
    }
  }
  store.give_back(0, 0, 64);
  EXPECT_LE(count(), 2 * 4u) << "the ends of four regions";
  fill(store);
  for (const auto piece : store.pieces(0, 20)) EXPECT_EQ(static_cast<int>(piece.back()), 21);
  EXPECT_EQ(count(), n_full);
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
