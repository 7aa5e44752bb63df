// How does a family take what it needs from a file? By name and shape; whatever is left unclaimed is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "gguf/gguf_file.h"
#include "kernels/kernel_table.h"
#include "nn/weights.h"

namespace ferrox {

enum class NormKind : uint8_t { kRms, kLayer };
struct NormStyle {
  NormKind kind = NormKind::kRms;
  float epsilon = 0.0f;
};

/// Does a float hold this number and its reciprocal?
bool is_positive_float(double value);

class WeightLoader {
 public:
  /// `file` and `kernels` must outlive the loader and what it hands out.
  WeightLoader(const GgufFile& file, std::string architecture, const KernelTable& kernels);

  const GgufFile& file() const { return file_; }
  const KernelTable& kernels() const { return kernels_; }
  const std::string& architecture() const { return architecture_; }

  // Hyperparameters: `key` without the architecture's prefix. Each call claims the key.

  /// An integer in [1, 2^24] that must be there.
  Result<int64_t> require_size(std::string_view key);
  /// An integer in [0, 2^24], or `fallback`.
  Result<int64_t> size_or(std::string_view key, int64_t fallback);
  /// One size for each of n_layers layers: the file's list, its one number for all, or `fallback`.
  Result<std::vector<int64_t>> sizes_of_layers(std::string_view key, int64_t n_layers, int64_t fallback);
  /// The file's list of n_layers flags; an empty one when there is no list.
  Result<std::vector<bool>> flags_of_layers(std::string_view key, int64_t n_layers);
  Result<bool> flag_or(std::string_view key, bool fallback);
  /// Numbers are such that floats hold them; positive ones, that floats hold their reciprocals, too.
  Result<double> float_or(std::string_view key, double fallback);
  Result<double> non_negative_float_or(std::string_view key, double fallback);
  Result<double> positive_float_or(std::string_view key, double fallback);
  Result<double> require_positive_float(std::string_view key);
  Result<std::string> string_or(std::string_view key, std::string fallback);
  bool has_key(std::string_view key) const;

  // Tensors. Errors name the tensor, the shape expected and the shape found.

  bool has_tensor(std::string_view name) const { return file_.find_tensor(name) != nullptr; }
  /// `<name>.weight` of [n_out][n_in], and `<name>.bias` of [n_out] and `<name>.scale` of [1] where the file has them.
  Result<Linear> linear(const std::string& name, int64_t n_in, int64_t n_out);
  /// `<name>.weight` of [n_out][n_in] alone: a bias or a scale beside it stays unclaimed, and so is refused.
  Result<Linear> bare_linear(const std::string& name, int64_t n_in, int64_t n_out);
  /// `<name>.weight` of [n_experts][n_out][n_in], and `<name>.bias` of [n_experts][n_out] and `<name>.scale` of
  /// [n_experts] where the file has them.
  Result<ExpertLinear> experts(const std::string& name, int64_t n_in, int64_t n_out, int64_t n_experts);
  /// `<name>.weight` of [n_vocab][n_embd] and nothing beside it.
  Result<Embedding> embedding(const std::string& name, int64_t n_embd, int64_t n_vocab);
  /// `name` of [n] as floats.
  Result<std::vector<float>> vector(const std::string& name, int64_t n);
  /// `name` of `dims`, the fastest first, as floats.
  Result<std::vector<float>> floats(const std::string& name, const std::vector<uint64_t>& dims);
  /// `name` of [n], of numbers that something is divided by: finite ones other than 0.
  Result<std::vector<float>> divisors(const std::string& name, int64_t n);
  /// `<name>.weight` of [n], and for layer norms `<name>.bias` of [n] where the file has one.
  Result<Norm> norm(const std::string& name, int64_t n, const NormStyle& style);
  /// A norm of heads: `<name>.weight` of [dim], [n_heads * dim] or [n_heads][dim]; absent when the file has none.
  Result<Norm> head_norm(const std::string& name, int64_t n_heads, int64_t dim, const NormStyle& style);
  /// Marks a tensor that text generation doesn't need, such as a ranking head, as known.
  void skip_tensor(const std::string& name) { claimed_tensors_.insert(name); }

  /// Refuses tensors that nothing claimed, and keys that would change the arithmetic, that nothing claimed, and whose
  /// value is neither neutral nor a writer's default.
  Result<void> check_all_claimed() const;

 private:
  std::string full_key(std::string_view key) const { return architecture_ + "." + std::string(key); }
  Result<const GgufTensor*> claim(const std::string& name, const std::vector<uint64_t>& dims);
  Result<Linear> matrix(const std::string& name, const std::vector<uint64_t>& dims);
  Result<Norm> finish_norm(const std::string& name, int64_t n, const NormStyle& style, std::vector<float> weight);
  Result<std::vector<float>> scales(const std::string& name, int64_t n);

  const GgufFile& file_;
  std::string architecture_;
  const KernelTable& kernels_;
  std::unordered_set<std::string> claimed_tensors_;
  std::unordered_set<std::string> claimed_keys_;
};

}  // namespace ferrox
