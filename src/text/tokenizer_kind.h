// Which kinds of tokenizer are there? One constant each, defined in the kind's own file.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "gguf/metadata.h"
#include "text/tokenizer.h"

namespace ferrox {

struct TokenizerKind {
  std::string_view model;  ///< value of tokenizer.ggml.model
  Result<std::unique_ptr<Tokenizer>> (*make)(Vocabulary vocabulary, const Metadata& metadata);
};

extern const TokenizerKind tokenizer_byte_level_bpe;
extern const TokenizerKind tokenizer_sentencepiece_bpe;

}  // namespace ferrox
