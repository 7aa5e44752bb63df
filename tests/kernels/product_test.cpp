// Does every format's product, in every instruction set and for every number of rows, equal the scalar statement bit
// for bit, and lie within a computed bound of the double-precision product?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/guarded_memory.h"
#include "kernels/scalar_product.h"
#include "kernels/scalar_quantize.h"
#include "kernels/supported_isas.h"
#include "support/random_weights.h"
#include "support/vectors.h"

namespace ferrox {
namespace {

using testing::Guarded;

/// Activations unlike each other in size: an outlier in every third row, a K-block of zeros in every fourth.
std::vector<float> activation_rows(int64_t n_rows, int64_t k) {
  std::vector<float> x = testing::random_floats(n_rows * k, 1.0f, 7);
  for (int64_t row = 0; row < n_rows; ++row) {
    float* values = x.data() + row * k;
    if (row % 3 == 1) values[(row * 37) % k] = 90.0f;
    if (row % 4 == 2) std::fill_n(values, std::min<int64_t>(k, kKBlock), 0.0f);
    if (row % 5 == 3) std::for_each(values, values + k, [](float& value) { value *= 1e-4f; });
  }
  return x;
}

/// One weight matrix, its activations, and what every product of them has to be.
struct Case {
  DType dtype;
  ActKind act_kind;
  int64_t k;
  int64_t n_rows;
  int64_t row_bytes;
  int64_t m;
  std::vector<std::byte> weights;           // [n_rows][row_bytes]
  std::vector<float> x;                     // [m][k]
  std::vector<std::vector<ActBlock>> acts;  // [m][ceil(k / 256)]
  std::vector<float> expected;              // [m][n_rows]
  std::vector<RealProduct> real;            // [m][n_rows]
};

template <class Format>
using ScalesOf = std::conditional_t<Format::kScale == ScaleKind::kReal, RealScales, IntegerScales>;

template <class Format>
void add_row_products(const std::byte* row, Case& c) {
  std::vector<float> decoded(static_cast<size_t>(c.k));
  find_format(c.dtype)->decode(row, decoded.data(), c.k);
  if constexpr (Format::kScale == ScaleKind::kFloat) {
    for (int64_t i = 0; i < c.m; ++i) {
      c.expected.push_back(scalar_product(decoded, c.x.data() + i * c.k));
      c.real.push_back(real_product(decoded, c.x.data() + i * c.k));
    }
  } else {
    const auto apart = take_apart<Format, ScalesOf<Format>>(row, c.k);
    const auto sizes = term_sizes<Format>(row, c.k);
    for (int64_t i = 0; i < c.m; ++i) {
      const auto& acts = c.acts[static_cast<size_t>(i)];
      c.expected.push_back(scalar_product<Format>(apart, acts));
      c.real.push_back(real_product(decoded, sizes, c.x.data() + i * c.k, acts, Format::kSub));
    }
  }
}

/// [n_rows][m] to [m][n_rows].
template <class T>
std::vector<T> turned(const std::vector<T>& values, int64_t n_rows, int64_t m) {
  std::vector<T> out(values.size());
  for (int64_t n = 0; n < n_rows; ++n) {
    for (int64_t i = 0; i < m; ++i) out[static_cast<size_t>(i * n_rows + n)] = values[static_cast<size_t>(n * m + i)];
  }
  return out;
}

template <class Format>
constexpr ActKind expected_act_kind() {
  if (Format::kScale == ScaleKind::kFloat) return ActKind::kFloat;
  return Format::kScale == ScaleKind::kInteger ? ActKind::kInt8 : ActKind::kInt8Pow2;
}

template <class Format>
Case make_case(std::vector<std::byte> weights, int64_t k, int64_t n_rows, int64_t m, std::vector<float> x) {
  Case c{Format::kType,
         expected_act_kind<Format>(),
         k,
         n_rows,
         k / Format::kBlock * Format::kBytes,
         m,
         std::move(weights),
         std::move(x),
         {},
         {},
         {}};
  for (int64_t i = 0; i < m; ++i) {
    c.acts.push_back(
        testing::scalar_quantize(c.x.data() + i * k, k, c.act_kind == ActKind::kFloat ? ActKind::kInt8 : c.act_kind));
  }
  for (int64_t n = 0; n < n_rows; ++n) add_row_products<Format>(c.weights.data() + n * c.row_bytes, c);
  c.expected = turned(c.expected, n_rows, m);
  c.real = turned(c.real, n_rows, m);
  return c;
}

template <class Format>
Case random_case(int64_t k, int64_t n_rows, int64_t m) {
  const FormatInfo& format = *find_format(Format::kType);
  return make_case<Format>(testing::random_blocks(format, n_rows * k / Format::kBlock, 1.0f, 11), k, n_rows, m,
                           activation_rows(m, k));
}

/// The table's product of the first n weight rows and m activation rows, every buffer right before a guard page.
/// Outputs of one row lie further apart than n; what is between them must stay as it was.
std::vector<float> run_product(const KernelTable& table, const Case& c, int64_t n, int64_t m) {
  constexpr float kUntouched = -12345.0f;
  const int64_t n_blocks = (c.k + kKBlock - 1) / kKBlock;
  const int64_t x_stride = c.k + 5;
  const int64_t out_stride = n + 3;
  const Guarded<std::byte> weights({c.weights.begin(), c.weights.begin() + n * c.row_bytes});
  const int64_t acts_stride = m > 4 ? m + 3 : m;  // part of the rows there are
  const Guarded<ActBlock> acts(static_cast<size_t>((n_blocks - 1) * acts_stride + m));
  const Guarded<float> x(static_cast<size_t>((m - 1) * x_stride + c.k));
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(c.x.data() + i * c.k, c.k, x.data() + i * x_stride);
    for (int64_t b = 0; b < n_blocks; ++b)
      acts.data()[b * acts_stride + i] = c.acts[static_cast<size_t>(i)][static_cast<size_t>(b)];
  }
  const Guarded<float> out(static_cast<size_t>((m - 1) * out_stride + n));
  std::fill_n(out.data(), (m - 1) * out_stride + n, kUntouched);
  const Guarded<float> scratch(static_cast<size_t>(product_scratch_floats(m)));
  find_format_kernels(table, c.dtype)
      ->product({weights.data(), c.row_bytes, n, c.k, acts.data(), acts_stride, x.data(), x_stride, m, out.data(),
                 out_stride, scratch.data(), weights.data()});
  std::vector<float> packed;
  for (int64_t i = 0; i < m; ++i) {
    packed.insert(packed.end(), out.data() + i * out_stride, out.data() + i * out_stride + n);
    for (int64_t j = n; i + 1 < m && j < out_stride; ++j) {
      EXPECT_EQ(out.data()[i * out_stride + j], kUntouched) << "a write past the last output";
    }
  }
  return packed;
}

void expect_product(const KernelTable& table, const Case& c, int64_t n, int64_t m) {
  SCOPED_TRACE(fmt::format("{} rows of {} weights, {} activation rows", n, c.k, m));
  const std::vector<float> out = run_product(table, c, n, m);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const float got = out[static_cast<size_t>(i * n + j)];
      const float want = c.expected[static_cast<size_t>(i * c.n_rows + j)];
      const RealProduct& real = c.real[static_cast<size_t>(i * c.n_rows + j)];
      ASSERT_EQ(std::memcmp(&got, &want, sizeof got), 0)
          << "activation row " << i << ", weight row " << j << ": expected " << want << ", found " << got;
      ASSERT_NEAR(got, real.value, real.bound) << "activation row " << i << ", weight row " << j;
    }
  }
}

/// Calls check(table, Format{}) for every instruction set and format.
template <class Check>
void each_format(const Check& check) {
  for (const KernelTable* table : testing::supported_isas()) {
    SCOPED_TRACE(table->name);
#define FORMAT(format)                       \
  if (!::testing::Test::HasFatalFailure()) { \
    SCOPED_TRACE(format::kName);             \
    check(*table, format{});                 \
  }
    ALL_FORMATS
#undef FORMAT
  }
}

TEST(Product, EveryTableHasEveryFormat) {
  each_format([](const KernelTable& table, auto format) {
    using Format = decltype(format);
    const FormatKernels* kernels = find_format_kernels(table, Format::kType);
    ASSERT_NE(kernels, nullptr);
    EXPECT_EQ(kernels->act_kind, expected_act_kind<Format>());
    EXPECT_EQ(kernels->block_elements, Format::kBlock);
    EXPECT_EQ(kernels->block_bytes, Format::kBytes);
  });
}

TEST(Product, OneTwoSevenAndManyRowsEqualTheScalarStatement) {
  for (const int64_t k : {256, 1024}) {
    each_format([k](const KernelTable& table, auto format) {
      static const Case c[] = {random_case<decltype(format)>(256, 37, 33), random_case<decltype(format)>(1024, 37, 33)};
      for (const int64_t m : {1, 2, 7, 33}) expect_product(table, c[k == 1024], 37, m);
    });
  }
}

/// A last K-block that isn't full: down to one block of the format, and for floats to any number.
TEST(Product, RowsThatEndInsideAKBlockEqualTheScalarStatement) {
  each_format([](const KernelTable& table, auto format) {
    using Format = decltype(format);
    for (const int64_t n_blocks : {1, 2, 3, 7, 9, 18}) {
      const int64_t k = n_blocks * Format::kBlock * (Format::kBlock == 1 ? 31 : 1);
      if (k > 1024 || k % kKBlock == 0) continue;
      const Case c = random_case<Format>(k, 21, 17);
      for (const int64_t m : {1, 3, 17}) expect_product(table, c, 21, m);
    }
  });
}

/// Rows of more K-blocks than few activation rows take at a time, whole and not.
TEST(Product, LongRowsEqualTheScalarStatement) {
  each_format([](const KernelTable& table, auto format) {
    using Format = decltype(format);
    static const Case whole = random_case<Format>(33 * 256, 17, 4);
    for (int64_t m = 1; m <= 4; ++m) expect_product(table, whole, 17, m);
    if (Format::kBlock == kKBlock) return;
    static const Case part = random_case<Format>(32 * 256 + Format::kBlock, 16, 4);
    for (int64_t m = 1; m <= 4; ++m) expect_product(table, part, 16, m);
  });
}

/// As many activation rows as a prompt has, and weight rows for several tiles and a part of one.
TEST(Product, AsManyRowsAsAPromptEqualTheScalarStatement) {
  each_format([](const KernelTable& table, auto format) {
    static const Case c = random_case<decltype(format)>(512, 145, 71);
    expect_product(table, c, 145, 71);
    expect_product(table, c, 128, 64);
  });
}

/// Every path through tiles, panels and groups of rows gives an output the same bits.
TEST(Product, NoCountOfRowsChangesBits) {
  each_format([](const KernelTable& table, auto format) {
    static const Case c = random_case<decltype(format)>(256, 65, 40);
    for (int64_t m = 1; m <= 40; ++m) expect_product(table, c, 1 + m * 13 % 65, m);
    for (const int64_t n : {1, 15, 16, 17, 31, 32, 33, 48, 49, 64, 65}) {
      expect_product(table, c, n, 5);
      expect_product(table, c, n, 16);
    }
  });
}

/// Fills those bytes of a block that say nothing of its scales.
template <class Format>
void fill_codes(std::byte value, std::byte* block) {
  const auto scales_of = [&] {
    uint8_t codes[kKBlock];
    ScalesOf<Format> scales{};
    Format::unpack(reinterpret_cast<const uint8_t*>(block), codes, scales);
    return scales;
  };
  const auto before = scales_of();
  for (int i = 0; i < Format::kBytes; ++i) {
    const std::byte kept = std::exchange(block[i], value);
    const auto after = scales_of();
    if (std::memcmp(&before, &after, sizeof before) != 0) block[i] = kept;
  }
}

/// Weight rows whose codes are all the largest, the least or, of 8 bits, the most negative, and activations that are
/// all as large as they get: no sum on the way may run over.
template <class Format>
Case extreme_case() {
  constexpr int64_t kRows = 19, kM = 5, kK = 512;
  constexpr std::byte kFillings[] = {std::byte{0xff}, std::byte{0}, std::byte{0x80}};
  auto weights = testing::random_blocks(*find_format(Format::kType), kRows * kK / Format::kBlock, 1.0f, 12);
  if constexpr (Format::kScale != ScaleKind::kFloat) {
    constexpr int64_t kRowBytes = kK / Format::kBlock * Format::kBytes;
    for (int64_t at = 0; at < kRows * kRowBytes; at += Format::kBytes) {
      fill_codes<Format>(kFillings[at / kRowBytes % 3], weights.data() + at);
    }
  }
  std::vector<float> x(kM * kK);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i / kK % 2 == 0 ? 1.0f : -1.0f;
  return make_case<Format>(std::move(weights), kK, kRows, kM, std::move(x));
}

TEST(Product, TheLargestCodesAndActivationsEqualTheScalarStatement) {
  each_format([](const KernelTable& table, auto format) {
    static const Case c = extreme_case<decltype(format)>();
    for (const int64_t m : {1, 2, 5}) expect_product(table, c, c.n_rows, m);
  });
}

template <class Format>
void expect_codes_up_to_the_named_one(std::span<const std::byte> weights) {
  if constexpr (Format::kScale != ScaleKind::kFloat) {
    int largest = 0;
    for (size_t at = 0; at < weights.size(); at += Format::kBytes) {
      const auto apart = take_apart<Format, ScalesOf<Format>>(weights.data() + at, Format::kBlock);
      largest = std::max<int>(largest, *std::max_element(apart.codes.begin(), apart.codes.end()));
    }
    EXPECT_LE(largest, Format::kMaxCode) << Format::kName;
  }
}

/// How many products may be added up in 16 bits rests on it.
TEST(Product, NoCodeIsAboveTheFormatsLargest) {
#define FORMAT(format) \
  expect_codes_up_to_the_named_one<format>(testing::random_blocks(*find_format(format::kType), 4096, 1.0f, 5));
  ALL_FORMATS
#undef FORMAT
}

/// Real weights, encoded elsewhere.
template <class Format>
const Case* outside_case(const std::filesystem::path& folder) {
  static const std::unique_ptr<Case> found = [&]() -> std::unique_ptr<Case> {
    for (const auto& entry : std::filesystem::directory_iterator(folder / "quant")) {
      std::ifstream file(entry.path(), std::ios::binary);
      int32_t head[4] = {-1};  // type, weights a row, rows, bytes a row
      file.read(reinterpret_cast<char*>(head), sizeof head);
      if (static_cast<DType>(head[0]) != Format::kType) continue;
      std::vector<std::byte> weights(static_cast<size_t>(head[2]) * static_cast<size_t>(head[3]));
      file.read(reinterpret_cast<char*>(weights.data()), static_cast<std::streamsize>(weights.size()));
      return std::make_unique<Case>(
          make_case<Format>(std::move(weights), head[1], head[2], 33, activation_rows(33, head[1])));
    }
    return nullptr;
  }();
  return found.get();
}

TEST(Product, OutsideWeightsEqualTheScalarStatement) {
  FERROX_VECTORS_OR_SKIP(folder, testing::vector_dir());
  size_t n_products = 0;
  each_format([&folder = folder, &n_products](const KernelTable& table, auto format) {
    const Case* c = outside_case<decltype(format)>(folder);
    if (c == nullptr) {
      EXPECT_EQ(decltype(format)::kType, DType::kF32) << "a format without outside vectors";
      return;
    }
    for (const int64_t m : {1, 2, 7, 33}) expect_product(table, *c, c->n_rows, m);
    ++n_products;
  });
  testing::record_vectors(n_products);
}

}  // namespace
}  // namespace ferrox
