// What are a model's logits for given tokens? One sequence without sampling: for comparisons and measurements.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "gguf/gguf_file.h"
#include "nn/model.h"

namespace ferrox {

struct EvaluatorOptions {
  int n_threads = 0;          ///< 0: what this process may use
  int64_t n_positions = 512;  ///< room in the KV memory
  int32_t batch_rows = 512;   ///< most rows of one forward pass
  int32_t page_rows = 32;
  DType k_type = DType::kF16;  ///< F16, BF16 or F32
  DType v_type = DType::kF16;
};

class Evaluator {
 public:
  /// `file` must outlive the evaluator. A file without a vocabulary will do. Errors: what load_model refuses; KV
  /// memory that this machine doesn't have.
  static Result<Evaluator> load(const GgufFile& file, const EvaluatorOptions& options);

  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  const ModelShape& shape() const;
  int n_threads() const;
  int64_t length() const;  ///< positions computed so far

  /// Which rows' logits are wanted.
  enum class Logits { kNone, kLast, kAll };

  /// Computes `tokens` at positions length(), length() + 1, ... in passes of batch_rows, and returns the wanted rows:
  /// [rows][n_vocab]. Errors: a token outside the vocabulary, more positions than there is room for.
  Result<std::vector<float>> append(std::span<const int32_t> tokens, Logits wanted);

  /// Forgets positions n and later; n <= length().
  void truncate(int64_t n);

 private:
  struct Impl;
  explicit Evaluator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ferrox
