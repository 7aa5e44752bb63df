#include "engine/log_prob_row.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/logit_row.h"

namespace ferrox {
namespace {

/// Nats between the likeliest token and the lowest code.
constexpr float kPackedNats = 16.0f;
constexpr float kHighestCode = 65535.0f;
constexpr size_t kHeaderWords = 4;

struct PackedHeader {
  float scale;
  float lowest;
};
static_assert(sizeof(PackedHeader) == kHeaderWords * sizeof(uint16_t));

PackedHeader header_of(std::span<const uint16_t> packed) {
  PackedHeader header;
  std::memcpy(&header, packed.data(), sizeof header);
  return header;
}

int32_t packed_top(std::span<const uint16_t> codes) {
  return static_cast<int32_t>(std::max_element(codes.begin(), codes.end()) - codes.begin());
}

}  // namespace

RowNorm row_norm(std::span<const float> logits) {
  RowNorm norm;
  norm.top = argmax(logits);
  const float max = logits[static_cast<size_t>(norm.top)];
  double sum = 0;
  for (const float logit : logits) sum += static_cast<double>(std::exp(logit - max));
  norm.log_sum_exp = static_cast<double>(max) + std::log(sum);
  return norm;
}

void pack_log_probs(std::span<const float> logits, const RowNorm& norm, std::span<uint16_t> packed) {
  const float max = logits[static_cast<size_t>(norm.top)];
  const float min = std::max(*std::min_element(logits.begin(), logits.end()), max - kPackedNats);
  const PackedHeader header{(max - min) / kHighestCode,
                            static_cast<float>(static_cast<double>(min) - norm.log_sum_exp)};
  std::fill(packed.begin(), packed.end(), uint16_t{0});
  std::memcpy(packed.data(), &header, sizeof header);
  if (header.scale == 0.0f) return;
  const float per_code = 1.0f / header.scale;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] <= min) continue;
    const float code = std::min(std::nearbyint((logits[i] - min) * per_code), kHighestCode);
    packed[kHeaderWords + i] = static_cast<uint16_t>(code);
  }
}

double packed_log_prob(std::span<const uint16_t> packed, int64_t token) {
  const PackedHeader header = header_of(packed);
  const uint16_t code = packed[kHeaderWords + static_cast<size_t>(token)];
  return static_cast<double>(header.lowest) + static_cast<double>(header.scale) * code;
}

RowDivergence row_divergence(std::span<const float> logits, const RowNorm& norm, std::span<const uint16_t> reference,
                             int32_t token) {
  const PackedHeader header = header_of(reference);
  const auto codes = reference.subspan(kHeaderWords, logits.size());
  RowDivergence divergence;
  for (size_t i = 0; i < logits.size(); ++i) {
    const float expected = header.lowest + header.scale * static_cast<float>(codes[i]);
    if (expected <= -kPackedNats) continue;
    const double found = static_cast<double>(logits[i]) - norm.log_sum_exp;
    divergence.kl += static_cast<double>(std::exp(expected)) * (static_cast<double>(expected) - found);
  }
  const double log_prob = static_cast<double>(logits[static_cast<size_t>(token)]) - norm.log_sum_exp;
  divergence.reference_nll = -packed_log_prob(reference, token);
  divergence.probability_shift = std::exp(log_prob) - std::exp(-divergence.reference_nll);
  divergence.same_top = packed_top(codes) == norm.top;
  return divergence;
}

}  // namespace ferrox
