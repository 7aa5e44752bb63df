// What are a model's logits for given tokens? Sequences without sampling: for comparisons and measurements.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/profile.h"
#include "base/result.h"
#include "gguf/gguf_file.h"
#include "nn/model.h"

namespace ferrox {

struct EvaluatorOptions {
  int n_threads = 0;          ///< 0: what this process may use
  int64_t n_positions = 512;  ///< room in the KV memory, for each sequence
  int32_t n_sequences = 1;
  int32_t batch_rows = 512;  ///< most rows of one forward pass
  int32_t page_rows = 32;
  DType k_type = DType::kF16;  ///< one of kKvTypes
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
  int64_t length(int32_t sequence = 0) const;  ///< positions computed so far

  /// Which rows' logits are wanted.
  enum class Logits { kNone, kLast, kAll };

  /// Computes `tokens` at the sequence's next positions in passes of batch_rows, and gives the wanted rows,
  /// [rows][n_vocab], valid until the next call. Errors: a token outside the vocabulary, more positions than there is
  /// room for.
  Result<std::span<const float>> append(std::span<const int32_t> tokens, Logits wanted, int32_t sequence = 0);

  /// Computes the next token of sequences 0, 1, ... in one pass: tokens is [n], of at most n_sequences, the logits are
  /// [n][n_vocab]. Errors as append.
  Result<std::span<const float>> step(std::span<const int32_t> tokens);

  /// Charges what is computed from now on to `profile`, which must outlive that; nullptr: to none.
  void set_profile(Profile* profile);

  /// truncate can come back to here.
  void mark(int32_t sequence = 0);

  /// Forgets positions n and later; n <= length(sequence). A recurrent model can go back to 0 and to where it was
  /// marked last (CHECK).
  void truncate(int64_t n, int32_t sequence = 0);

 private:
  struct Impl;
  explicit Evaluator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ferrox
