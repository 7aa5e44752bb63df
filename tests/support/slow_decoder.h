// What are a tiny model's logits? The forward pass of llama, its relatives and Gemma 2 written down plainly, in double
// precision and without any of the program's own code but the weights' decoding.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "support/tiny_model.h"

namespace ferrox::testing {

class SlowDecoder {
 public:
  using Vector = std::vector<double>;

  SlowDecoder(const TinyModel& model, const TinyFile& file) : model_(model) {
    for (const TinyFile::Tensor& tensor : file.tensors) {
      const FormatInfo& format = *find_format(tensor.dtype);
      const size_t n = tensor.bytes.size() / static_cast<size_t>(format.block_bytes);
      std::vector<float> floats(n * static_cast<size_t>(format.block_elements));
      format.decode(tensor.bytes.data(), floats.data(), static_cast<int64_t>(floats.size()));
      weights_[tensor.name] = Vector(floats.begin(), floats.end());
    }
  }

  /// Of every position, [tokens][n_vocab].
  Vector logits(const std::vector<int32_t>& tokens) const {
    std::vector<Vector> hidden;
    for (const int32_t token : tokens) {
      hidden.push_back(row("token_embd.weight", token, model_.n_embd));
      if (is_gemma2()) scale(std::sqrt(static_cast<double>(model_.n_embd)), hidden.back());
    }
    for (int layer = 0; layer < model_.n_layers; ++layer) {
      const bool slides = is_gemma2() && layer % 2 == 0;
      run_layer("blk." + std::to_string(layer) + ".", slides ? static_cast<size_t>(model_.window) : 0, hidden);
    }
    Vector out;
    for (const Vector& h : hidden) {
      Vector logits = multiply(model_.has_output ? "output" : "token_embd", norm("output_norm", h));
      for (double& logit : logits) logit = is_gemma2() ? 30.0 * std::tanh(logit / 30.0) : logit;
      out.insert(out.end(), logits.begin(), logits.end());
    }
    return out;
  }

 private:
  bool is_gemma2() const { return model_.architecture == "gemma2"; }

  static void scale(double factor, Vector& x) {
    for (double& value : x) value *= factor;
  }

  Vector row(const std::string& name, int64_t index, int64_t width) const {
    const Vector& all = weights_.at(name);
    return {all.begin() + index * width, all.begin() + (index + 1) * width};
  }

  /// Matrix `index` of n_out rows in the tensor, times x, plus the bias if there is one.
  Vector multiply(const std::string& name, const Vector& x, int64_t n_out = 0, int64_t index = 0) const {
    const Vector& w = weights_.at(name + ".weight");
    if (n_out == 0) n_out = static_cast<int64_t>(w.size() / x.size());
    Vector out;
    for (int64_t n = index * n_out; n < (index + 1) * n_out; ++n) {
      const auto first = w.begin() + n * static_cast<int64_t>(x.size());
      out.push_back(std::inner_product(x.begin(), x.end(), first, 0.0));
    }
    const auto bias = weights_.find(name + ".bias");
    for (size_t i = 0; bias != weights_.end() && i < out.size(); ++i) out[i] += bias->second[i];
    return out;
  }

  Vector norm(const std::string& name, const Vector& x) const {
    const Vector& weight = weights_.at(name + ".weight");
    const double mean = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / static_cast<double>(x.size());
    Vector out;
    for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] / std::sqrt(mean + double{1e-5f}) * weight[i]);
    return out;
  }

  /// Head `head` of x, normalised where the file has such a norm, rotated for `position`.
  Vector head_of(const Vector& x, int head, int64_t position, const std::string& norm_name) const {
    const int dim = model_.head_dim;
    Vector out(x.begin() + head * dim, x.begin() + (head + 1) * dim);
    if (weights_.contains(norm_name + ".weight")) out = norm(norm_name, out);
    const bool neighbours = model_.architecture == "llama";
    for (int i = 0; i < dim / 2; ++i) {
      double& a = out[static_cast<size_t>(neighbours ? 2 * i : i)];
      double& b = out[static_cast<size_t>(neighbours ? 2 * i + 1 : i + dim / 2)];
      const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * i / dim);
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = a * std::sin(angle) + b * std::cos(angle);
      a = turned;
    }
    return out;
  }

  /// One head of one position over all positions up to it.
  Vector attend(const Vector& q, const std::vector<Vector>& keys, const std::vector<Vector>& values, int head,
                size_t first_seen, size_t n) const {
    const auto dim = static_cast<size_t>(model_.head_dim);
    const size_t at = static_cast<size_t>(head * model_.n_kv_heads / model_.n_heads) * dim;
    Vector scores;
    for (size_t i = first_seen; i < n; ++i) {
      const auto first = keys[i].begin() + static_cast<int64_t>(at);
      const double score = std::inner_product(q.begin(), q.end(), first, 0.0) / std::sqrt(static_cast<double>(dim));
      scores.push_back(is_gemma2() ? 50.0 * std::tanh(score / 50.0) : score);
    }
    const double top = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (double& score : scores) sum += score = std::exp(score - top);
    Vector out(dim, 0.0);
    for (size_t i = 0; i < scores.size(); ++i) {
      for (size_t d = 0; d < dim; ++d) out[d] += scores[i] / sum * values[first_seen + i][at + d];
    }
    return out;
  }

  double activated(double x) const {
    if (!is_gemma2()) return x / (1.0 + std::exp(-x));
    return x / 2 * (1 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }

  Vector gated(const std::string& block, const char* suffix, const Vector& x, int64_t expert) const {
    Vector hidden = multiply(block + "ffn_gate" + suffix, x, model_.n_ff, expert);
    const Vector up = multiply(block + "ffn_up" + suffix, x, model_.n_ff, expert);
    for (size_t i = 0; i < hidden.size(); ++i) hidden[i] = activated(hidden[i]) * up[i];
    return multiply(block + "ffn_down" + suffix, hidden, model_.n_embd, expert);
  }

  Vector think(const std::string& block, const Vector& x) const {
    if (model_.n_experts == 0) return gated(block, "", x, 0);
    const Vector router = multiply(block + "ffn_gate_inp", x);
    std::vector<int64_t> order(router.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return router[static_cast<size_t>(a)] > router[static_cast<size_t>(b)];
    });
    order.resize(static_cast<size_t>(model_.n_experts_used));
    double total = 0.0;
    for (const int64_t expert : order) total += std::exp(router[static_cast<size_t>(expert)]);
    Vector out(x.size(), 0.0);
    for (const int64_t expert : order) {
      const Vector answer = gated(block, "_exps", x, expert);
      const double weight = std::exp(router[static_cast<size_t>(expert)]) / total;
      for (size_t i = 0; i < out.size(); ++i) out[i] += weight * answer[i];
    }
    return out;
  }

  static void add(const Vector& x, Vector& inout) {
    for (size_t i = 0; i < x.size(); ++i) inout[i] += x[i];
  }

  /// norm(x) where the file has such a norm.
  Vector post_norm(const std::string& name, const Vector& x) const {
    return weights_.contains(name + ".weight") ? norm(name, x) : x;
  }

  /// window: trailing positions read; 0: all.
  void run_layer(const std::string& block, size_t window, std::vector<Vector>& hidden) const {
    std::vector<Vector> keys;
    std::vector<Vector> values;
    for (size_t position = 0; position < hidden.size(); ++position) {
      const auto at = static_cast<int64_t>(position);
      const Vector x = norm(block + "attn_norm", hidden[position]);
      const Vector k = multiply(block + "attn_k", x);
      keys.emplace_back();
      for (int head = 0; head < model_.n_kv_heads; ++head) {
        const Vector turned = head_of(k, head, at, block + "attn_k_norm");
        keys.back().insert(keys.back().end(), turned.begin(), turned.end());
      }
      values.push_back(multiply(block + "attn_v", x));
      const Vector q = multiply(block + "attn_q", x);
      const size_t first_seen = window > 0 && position + 1 > window ? position + 1 - window : 0;
      Vector attended;
      for (int head = 0; head < model_.n_heads; ++head) {
        const Vector out =
            attend(head_of(q, head, at, block + "attn_q_norm"), keys, values, head, first_seen, position + 1);
        attended.insert(attended.end(), out.begin(), out.end());
      }
      add(post_norm(block + "post_attention_norm", multiply(block + "attn_output", attended)), hidden[position]);
      add(post_norm(block + "post_ffw_norm", think(block, norm(block + "ffn_norm", hidden[position]))),
          hidden[position]);
    }
  }

  TinyModel model_;
  std::map<std::string, Vector> weights_;
};

}  // namespace ferrox::testing
