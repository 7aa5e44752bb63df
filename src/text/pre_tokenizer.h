// Which pieces of a text are tokenized on their own? Those that a vocabulary's patterns cut it into.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tables/pre_tokenizer_rules.h"

namespace ferrox {

/// Bytes [start, start + length) of the text.
struct TextPiece {
  uint32_t start;
  uint32_t length;
};

/// One row of patterns, compiled (PCRE2, JIT where the machine has one). Immutable: threads may share it.
class PreTokenizer {
 public:
  /// Errors: a pattern that PCRE2 doesn't accept (a fault of the table, named).
  static Result<PreTokenizer> compile(const PreTokenizerRules& rules);

  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;
  ~PreTokenizer();

  /// Cuts `text` (below 4 GiB) into pieces that cover it in order. Bytes that aren't UTF-8 are pieces of their own,
  /// one per maximal subpart, and patterns don't see across them. Linear in the text for every row of the table.
  std::vector<TextPiece> split(std::string_view text) const;

 private:
  struct Pattern;
  PreTokenizer();

  std::vector<std::unique_ptr<const Pattern>> patterns_;
};

}  // namespace ferrox
