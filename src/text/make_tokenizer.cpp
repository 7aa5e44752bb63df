// Which kind of tokenizer does a model file ask for?
#include <array>

#include "text/tokenizer_kind.h"

namespace ferrox {
namespace {

constexpr std::array kKinds = {&tokenizer_byte_level_bpe, &tokenizer_sentencepiece_bpe};

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_tokenizer(const Metadata& metadata) {
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::load(metadata));
  std::string known;
  for (const TokenizerKind* kind : kKinds) {
    if (kind->model == vocabulary.model()) return kind->make(std::move(vocabulary), metadata);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kind->model);
  }
  return make_error(ErrorCode::kUnsupported, "tokenizer.ggml.model: expected one of {}, found {}", known,
                    vocabulary.model());
}

}  // namespace ferrox
