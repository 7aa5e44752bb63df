// Are norms, activations, sums and conversions of rows right, at every length, with the same bits in every instruction
// set, and without touching a byte past their rows?
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "base/half.h"
#include "kernels/guarded_memory.h"
#include "kernels/rounding.h"
#include "kernels/supported_isas.h"
#include "support/random_weights.h"

namespace ferrox {
namespace {

using testing::Guarded;
using testing::kExpError;
using testing::kHalfUlp;

constexpr float kEpsilon = 1e-5f;

struct Bounded {
  double value;
  double bound;
};

/// One row operation: what a table makes of x and y, and what it should be.
struct RowOp {
  const char* name;
  std::function<void(const KernelTable&, const float* x, const float* y, int64_t n, float* out)> run;
  std::function<std::vector<Bounded>(const std::vector<float>& x, const std::vector<float>& y)> judge;
};

/// Roundings of a sum of n terms in 16 running sums, their tree, and a scalar tail.
double sum_roundings(size_t n) { return (static_cast<double>(n) / 16 + 20) * kHalfUlp; }

std::vector<Bounded> judge_rms_norm(const std::vector<float>& x, const std::vector<float>& weight) {
  double sum = 0.0;
  for (const float v : x) sum += double{v} * v;
  const double scale = 1.0 / std::sqrt(sum / static_cast<double>(x.size()) + kEpsilon);
  std::vector<Bounded> out;
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = x[i] * scale * weight[i];
    out.push_back({value, std::abs(value) * (sum_roundings(x.size()) / 2 + 6 * kHalfUlp)});
  }
  return out;
}

/// `bias` is half of y, so that weight and bias differ.
std::vector<Bounded> judge_layer_norm(const std::vector<float>& x, const std::vector<float>& weight) {
  const auto n = static_cast<double>(x.size());
  double mean = 0.0;
  double size = 0.0;
  for (const float v : x) {
    mean += v / n;
    size += std::abs(v) / n;
  }
  double variance = 0.0;
  for (const float v : x) variance += (v - mean) * (v - mean) / n;
  const double scale = 1.0 / std::sqrt(variance + kEpsilon);
  const double mean_error = (sum_roundings(x.size()) + 2 * kHalfUlp) * size;
  const double scale_error = sum_roundings(x.size()) / 2 + 4 * kHalfUlp + mean_error * mean_error * scale * scale;
  std::vector<Bounded> out;
  for (size_t i = 0; i < x.size(); ++i) {
    const double normed = (x[i] - mean) * scale * weight[i];
    const double value = normed + 0.5 * weight[i];
    out.push_back({value, std::abs(normed) * (scale_error + 4 * kHalfUlp) + mean_error * scale * std::abs(weight[i]) +
                              std::abs(value) * kHalfUlp});
  }
  return out;
}

/// Where e^-x would overflow it stays at e^88.3.
std::vector<Bounded> judge_silu_mul(const std::vector<float>& gate, const std::vector<float>& up) {
  std::vector<Bounded> out;
  for (size_t i = 0; i < gate.size(); ++i) {
    const double value = gate[i] / (1.0 + std::exp(-double{gate[i]})) * up[i];
    out.push_back({value, std::abs(value) * (kExpError + 5 * kHalfUlp) + std::exp(-88.2) * std::abs(gate[i] * up[i])});
  }
  return out;
}

/// The error of tanh(y) is that of e^2y times (1 - tanh^2) / 2, and its own three roundings of numbers up to 2.
std::vector<Bounded> judge_gelu_mul(const std::vector<float>& gate, const std::vector<float>& up) {
  std::vector<Bounded> out;
  for (size_t i = 0; i < gate.size(); ++i) {
    const double g = gate[i];
    const double y = std::sqrt(2.0 / std::numbers::pi) * (g + 0.044715 * g * g * g);
    const double t = std::tanh(y);
    const double tanh_error = (1 - t * t) / 2 * (kExpError + 2 * std::abs(y) * 6 * kHalfUlp) + 6 * kHalfUlp;
    const double value = g / 2 * (1 + t) * up[i];
    out.push_back({value, std::abs(g / 2 * up[i]) * tanh_error + std::abs(value) * 5 * kHalfUlp});
  }
  return out;
}

/// The bounds of a gated activation hold for an ungated one, with a gate of ones.
std::vector<Bounded> judge_gelu(const std::vector<float>& x, const std::vector<float>&) {
  return judge_gelu_mul(x, std::vector<float>(x.size(), 1.0f));
}

std::vector<Bounded> judge_clamped_silu_mul(const std::vector<float>& gate, const std::vector<float>& up) {
  std::vector<Bounded> out;
  for (size_t i = 0; i < gate.size(); ++i) {
    const double g = std::min(7.0, double{gate[i]});
    const double u = std::clamp(double{up[i]}, -7.0, 7.0) + 1.0;
    const double value = g / (1.0 + std::exp(-double{1.702f} * g)) * u;
    const double exponent_error = std::abs(1.702 * g) * kHalfUlp;  // of the rounded product
    out.push_back(
        {value, std::abs(value) * (kExpError + exponent_error + 7 * kHalfUlp) + std::exp(-88.2) * std::abs(g * u)});
  }
  return out;
}

std::vector<Bounded> judge_sigmoid(const std::vector<float>& x, const std::vector<float>&) {
  std::vector<Bounded> out;
  for (const float v : x) {
    const double value = 1.0 / (1.0 + std::exp(-double{v}));
    out.push_back({value, value * (kExpError + 3 * kHalfUlp) + std::exp(-88.2)});
  }
  return out;
}

std::vector<Bounded> judge_silu(const std::vector<float>& x, const std::vector<float>&) {
  return judge_silu_mul(x, std::vector<float>(x.size(), 1.0f));
}

/// ln(1 + u) grows no faster than u, whose relative error is that of e^x; where e^-|x| vanishes so does u.
std::vector<Bounded> judge_softplus(const std::vector<float>& x, const std::vector<float>&) {
  std::vector<Bounded> out;
  for (const float v : x) {
    const double tail = std::log1p(std::exp(-std::abs(double{v})));
    const double value = std::max(0.0, double{v}) + tail;
    out.push_back({value, tail * (kExpError + 2e-8 + 8 * kHalfUlp) + value * kHalfUlp + std::exp(-87.2)});
  }
  return out;
}

std::vector<Bounded> judge_l2_norm(const std::vector<float>& x, const std::vector<float>&) {
  double sum = 0.0;
  for (const float v : x) sum += double{v} * v;
  const double scale = 0.5 / std::max(std::sqrt(sum), double{kEpsilon});
  std::vector<Bounded> out;
  for (const float v : x) {
    out.push_back({v * scale, std::abs(v * scale) * (sum_roundings(x.size()) / 2 + 6 * kHalfUlp)});
  }
  return out;
}

/// As in gelu: the error of tanh(y) for y off by a rounding.
std::vector<Bounded> judge_soft_cap(const std::vector<float>& x, const std::vector<float>&) {
  std::vector<Bounded> out;
  for (const float v : x) {
    const double y = double{v} / 2.5;
    const double t = std::tanh(y);
    const double tanh_error = (1 - t * t) / 2 * (kExpError + 2 * std::abs(y) * 2 * kHalfUlp) + 6 * kHalfUlp;
    out.push_back({2.5 * t, 2.5 * (tanh_error + kHalfUlp)});
  }
  return out;
}

std::vector<Bounded> judge_softmax(const std::vector<float>& x, const std::vector<float>&) {
  const double top = *std::max_element(x.begin(), x.end());
  const double range = top - *std::min_element(x.begin(), x.end());
  double sum = 0.0;
  for (const float v : x) sum += std::exp(v - top);
  const double relative = 2 * kExpError + 2 * range * kHalfUlp + sum_roundings(x.size()) + 4 * kHalfUlp;
  std::vector<Bounded> out;
  for (const float v : x) out.push_back({std::exp(v - top) / sum, std::exp(v - top) / sum * relative + 1e-37});
  return out;
}

std::vector<Bounded> exactly(const std::vector<float>& x, const std::vector<float>& y, float (*f)(float, float)) {
  std::vector<Bounded> out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back({f(x[i], y[i]), 0.0});
  return out;
}

const std::vector<RowOp>& row_ops() {
  using In = const float*;
  using Values = std::vector<float>;
  static const std::vector<RowOp> ops = {
      {"rms_norm", [](const KernelTable& t, In x, In y, int64_t n, float* out) { t.rms_norm(x, y, kEpsilon, n, out); },
       judge_rms_norm},
      {"rms_norm without weight",
       [](const KernelTable& t, In x, In, int64_t n, float* out) { t.rms_norm(x, nullptr, kEpsilon, n, out); },
       [](const Values& x, const Values&) { return judge_rms_norm(x, Values(x.size(), 1.0f)); }},
      {"layer_norm",
       [](const KernelTable& t, In x, In y, int64_t n, float* out) {
         Values bias(y, y + n);
         for (float& b : bias) b *= 0.5f;
         const Guarded<float> guarded(bias);
         t.layer_norm(x, y, guarded.data(), kEpsilon, n, out);
       },
       judge_layer_norm},
      {"silu_mul", [](const KernelTable& t, In x, In y, int64_t n, float* out) { t.silu_mul(x, y, n, out); },
       judge_silu_mul},
      {"l2_norm", [](const KernelTable& t, In x, In, int64_t n, float* out) { t.l2_norm(x, 0.5f, kEpsilon, n, out); },
       judge_l2_norm},
      {"silu",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         if (out != x) std::copy_n(x, n, out);
         t.silu(n, out);
       },
       judge_silu},
      {"softplus",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         if (out != x) std::copy_n(x, n, out);
         t.softplus(n, out);
       },
       judge_softplus},
      {"relu_squared",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         if (out != x) std::copy_n(x, n, out);
         t.relu_squared(n, out);
       },
       [](const Values& x, const Values& y) {
         return exactly(x, y, [](float a, float) { return std::max(a, 0.0f) * std::max(a, 0.0f); });
       }},
      {"gelu_mul", [](const KernelTable& t, In x, In y, int64_t n, float* out) { t.gelu_mul(x, y, n, out); },
       judge_gelu_mul},
      {"gelu",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         if (out != x) std::copy_n(x, n, out);
         t.gelu(n, out);
       },
       judge_gelu},
      {"clamped_silu_mul",
       [](const KernelTable& t, In x, In y, int64_t n, float* out) { t.clamped_silu_mul(x, y, n, out); },
       judge_clamped_silu_mul},
      {"sigmoid",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         if (out != x) std::copy_n(x, n, out);
         t.sigmoid(n, out);
       },
       judge_sigmoid},
      {"soft_cap",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         if (out != x) std::copy_n(x, n, out);
         t.soft_cap(2.5f, n, out);
       },
       judge_soft_cap},
      {"clamp",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         if (out != x) std::copy_n(x, n, out);
         t.clamp(1.5f, n, out);
       },
       [](const Values& x, const Values& y) {
         return exactly(x, y, [](float a, float) { return std::clamp(a, -1.5f, 1.5f); });
       }},
      {"softmax",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         std::copy_n(x, n, out);
         t.softmax(n, out);
       },
       judge_softmax},
      {"add",
       [](const KernelTable& t, In x, In y, int64_t n, float* out) {
         std::copy_n(y, n, out);
         t.add(x, n, out);
       },
       [](const Values& x, const Values& y) { return exactly(x, y, [](float a, float b) { return a + b; }); }},
      {"mul",
       [](const KernelTable& t, In x, In y, int64_t n, float* out) {
         std::copy_n(y, n, out);
         t.mul(x, n, out);
       },
       [](const Values& x, const Values& y) { return exactly(x, y, [](float a, float b) { return a * b; }); }},
      {"scale",
       [](const KernelTable& t, In x, In, int64_t n, float* out) {
         std::copy_n(x, n, out);
         t.scale(1.7f, n, out);
       },
       [](const Values& x, const Values& y) { return exactly(x, y, [](float a, float) { return a * 1.7f; }); }},
      {"add_scaled",
       [](const KernelTable& t, In x, In y, int64_t n, float* out) {
         std::copy_n(y, n, out);
         t.add_scaled(x, -0.3f, n, out);
       },
       [](const Values& x, const Values& y) {
         return exactly(x, y, [](float a, float b) { return std::fma(a, -0.3f, b); });
       }}};
  return ops;
}

std::vector<float> run_op(const KernelTable& table, const RowOp& op, const std::vector<float>& x,
                          const std::vector<float>& y) {
  const Guarded<float> guarded_x(x);
  const Guarded<float> guarded_y(y);
  const Guarded<float> out(x.size());
  op.run(table, guarded_x.data(), guarded_y.data(), static_cast<int64_t>(x.size()), out.data());
  return out.copy();
}

void expect_op(const RowOp& op, const std::vector<float>& x, const std::vector<float>& y) {
  const std::vector<Bounded> want = op.judge(x, y);
  const auto tables = testing::supported_isas();
  const std::vector<float> first = run_op(*tables.front(), op, x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(first[i], want[i].value, want[i].bound) << op.name << ", element " << i << " of " << x.size();
  }
  for (const KernelTable* table : tables) {
    ASSERT_EQ(run_op(*table, op, x, y), first)
        << op.name << " of " << x.size() << ": " << table->name << " has other bits than " << tables.front()->name;
  }
}

TEST(Rows, EveryLengthIsWithinItsBound) {
  for (const RowOp& op : row_ops()) {
    for (int64_t n = 1; n <= 70; ++n) {
      expect_op(op, testing::random_floats(n, 3.0f, static_cast<uint32_t>(n)),
                testing::random_floats(n, 1.0f, static_cast<uint32_t>(n + 1000)));
      if (HasFatalFailure()) break;
    }
    expect_op(op, testing::random_floats(4096 + 7, 3.0f, 1), testing::random_floats(4096 + 7, 1.0f, 2));
  }
}

/// From where e^-x overflows to where it vanishes.
TEST(Rows, ActivationsHoldOverTheirWholeRange) {
  std::vector<float> x;
  for (float v = -120.0f; v <= 120.0f; v += 0.0137f) x.push_back(v);
  for (float v = -1e-3f; v <= 1e-3f; v += 1.7e-5f) x.push_back(v);
  for (const float v : {0.0f, -0.0f, 1e-30f, -1e-30f, 87.3f, -87.3f, 88.3f, -88.3f, 1e5f, -1e5f}) x.push_back(v);
  const std::vector<float> ones(x.size(), 1.0f);
  for (const RowOp& op : row_ops()) {
    const std::string_view name = op.name;
    const bool sums = name.find("norm") != std::string_view::npos || name == "softmax";  // of rows, not of elements
    if (!sums) expect_op(op, x, ones);
  }
}

/// Two numbers t apart: the smaller weighs e^-t / (1 + e^-t).
TEST(Rows, SoftmaxHoldsOverItsWholeRange) {
  const RowOp& softmax = *std::find_if(row_ops().begin(), row_ops().end(),
                                       [](const RowOp& op) { return std::string_view(op.name) == "softmax"; });
  for (float t = 0.0f; t < 100.0f; t += 0.031f) expect_op(softmax, {5.0f, 5.0f - t}, {0.0f, 0.0f});
  expect_op(softmax, {-1e30f, 1e30f, 1e30f}, {0, 0, 0});
  expect_op(softmax, std::vector<float>(50, -1e30f), std::vector<float>(50));
}

TEST(Rows, NansStay) {
  for (const KernelTable* table : testing::supported_isas()) {
    for (const RowOp& op : row_ops()) {
      for (const size_t at : {0u, 15u, 16u, 34u}) {
        std::vector<float> x = testing::random_floats(35, 1.0f, 4);
        x[at] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(std::isnan(run_op(*table, op, x, std::vector<float>(35, 1.0f))[at])) << op.name << " at " << at;
      }
    }
  }
}

TEST(Rows, NormsAndActivationsWorkInPlace) {
  for (const KernelTable* table : testing::supported_isas()) {
    const std::vector<float> x = testing::random_floats(53, 1.0f, 1);
    const std::vector<float> y = testing::random_floats(53, 1.0f, 2);
    for (size_t i = 0; i < 14; ++i) {
      const RowOp& op = row_ops()[i];
      std::vector<float> inout = x;
      op.run(*table, inout.data(), y.data(), 53, inout.data());
      EXPECT_EQ(inout, run_op(*table, op, x, y)) << op.name;
    }
  }
}

uint16_t narrowed(float value, DType dtype) {
  return dtype == DType::kF16 ? float_to_half(value) : float_to_bf16(value);
}
float widened(uint16_t bits, DType dtype) { return dtype == DType::kF16 ? half_to_float(bits) : bf16_to_float(bits); }

TEST(Rows, EverySixteenBitNumberLoads) {
  for (const KernelTable* table : testing::supported_isas()) {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      std::vector<uint16_t> bits(65536);
      for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
      std::vector<float> out(bits.size());
      table->load_row(reinterpret_cast<const std::byte*>(bits.data()), 65536, dtype, out.data());
      for (size_t i = 0; i < bits.size(); ++i) {
        const float want = widened(bits[i], dtype);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(out[i])) << i;
        } else {
          ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(want)) << table->name << " " << i;
        }
      }
    }
  }
}

/// Each 16-bit number, the middle between it and the next, and both neighbours of the middle.
TEST(Rows, NumbersRoundToSixteenBitsAlikeEverywhere) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    std::vector<float> x;
    for (uint32_t bits = 0; bits < 65535; ++bits) {
      const float low = widened(static_cast<uint16_t>(bits), dtype);
      const float high = widened(static_cast<uint16_t>(bits + 1), dtype);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const auto middle = static_cast<float>((double{low} + high) / 2);
      for (const float v : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) x.push_back(v);
    }
    for (const float v : {65504.0f, 65519.0f, 65520.0f, 1e6f, -1e6f, HUGE_VALF, -HUGE_VALF, 1e-45f}) x.push_back(v);
    for (const KernelTable* table : testing::supported_isas()) {
      std::vector<uint16_t> out(x.size());
      table->store_row(x.data(), static_cast<int64_t>(x.size()), dtype, reinterpret_cast<std::byte*>(out.data()));
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], narrowed(x[i], dtype)) << table->name << " " << x[i];
    }
  }
}

TEST(Rows, ConversionsStayInsideTheirRows) {
  for (const KernelTable* table : testing::supported_isas()) {
    for (size_t n = 1; n <= 70; ++n) {
      for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32}) {
        const Guarded<float> x(testing::random_floats(static_cast<int64_t>(n), 1.0f, static_cast<uint32_t>(n)));
        const Guarded<std::byte> stored(n * (dtype == DType::kF32 ? 4 : 2));
        const Guarded<float> back(n);
        table->store_row(x.data(), static_cast<int64_t>(n), dtype, stored.data());
        table->load_row(stored.data(), static_cast<int64_t>(n), dtype, back.data());
        for (size_t i = 0; i < n; ++i) {
          const float want = dtype == DType::kF32 ? x.data()[i] : widened(narrowed(x.data()[i], dtype), dtype);
          ASSERT_EQ(back.data()[i], want);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ferrox
