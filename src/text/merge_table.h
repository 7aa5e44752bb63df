// Which two symbols does a vocabulary's merge list join, into what and in which order?
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "gguf/metadata.h"
#include "text/pair_map.h"
#include "text/vocabulary.h"

namespace ferrox {

/// `tokenizer.ggml.merges` by number. A symbol is a token's id, or, from the vocabulary's size up, a string that merges
/// pass through but that is no token of text.
class MergeTable {
 public:
  /// Errors: kNotFound without merges; kCorrupt for a merge that isn't two words with a space between.
  static Result<MergeTable> load(const Vocabulary& vocabulary, const Metadata& metadata);

  /// Rank and outcome of joining two symbols; rank PairMap::kNone when they aren't joined.
  PairMap::Value find(int32_t left, int32_t right) const {
    return pairs_.find(static_cast<uint32_t>(left), static_cast<uint32_t>(right));
  }

  int32_t byte_symbol(uint8_t byte) const { return byte_symbols_[byte]; }

 private:
  MergeTable() = default;

  PairMap pairs_;
  std::array<int32_t, 256> byte_symbols_{};
};

/// Ordinary text may come out as token `id`: it is spelled in the byte alphabet and isn't one that is matched whole.
bool is_text_token(const Vocabulary& vocabulary, int32_t id);

}  // namespace ferrox
