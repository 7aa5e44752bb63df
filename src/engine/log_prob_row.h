// How are the log-probabilities of a whole vocabulary kept in 16 bits a token, and how far is another row from them?
//
// The layout is llama-perplexity's: | scale: f32 | lowest: f32 | code: u16 [n_vocab] | 0: u16 if n_vocab is odd |,
// log-probability = lowest + code * scale. Tokens 16 nats and more below the likeliest one get code 0.
#pragma once

#include <cstdint>
#include <span>

namespace ferrox {

/// u16 words of one packed row.
constexpr int64_t packed_row_words(int64_t n_vocab) { return (n_vocab + 1) / 2 * 2 + 4; }

/// The likeliest token of a row of logits and the logarithm of its softmax's denominator.
struct RowNorm {
  int32_t top = 0;
  double log_sum_exp = 0;
};
RowNorm row_norm(std::span<const float> logits);

/// packed: [packed_row_words(logits.size())].
void pack_log_probs(std::span<const float> logits, const RowNorm& norm, std::span<uint16_t> packed);

/// What a packed row says of one token.
double packed_log_prob(std::span<const uint16_t> packed, int64_t token);

/// A row of logits beside the reference's row for the same place.
struct RowDivergence {
  double kl = 0;                 ///< sum of p_reference * (log p_reference - log p), in nats
  double reference_nll = 0;      ///< -log p_reference of the token that came
  double probability_shift = 0;  ///< p - p_reference of the token that came
  bool same_top = false;         ///< both find the same token likeliest
};

/// Reference tokens of log-probability -16 and below don't enter the sum: their codes don't tell them apart.
RowDivergence row_divergence(std::span<const float> logits, const RowNorm& norm, std::span<const uint16_t> reference,
                             int32_t token);

}  // namespace ferrox
