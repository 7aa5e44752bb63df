// How does byte-level BPE (GPT-2 and its descendants) tokenize a run of text?
#include <algorithm>
#include <array>
#include <optional>

#include "base/log.h"
#include "text/byte_alphabet.h"
#include "text/merge.h"
#include "text/merge_table.h"
#include "text/piece_cache.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_kind.h"

namespace ferrox {
namespace {

class ByteLevelBpe final : public Tokenizer {
 public:
  ByteLevelBpe(Vocabulary vocabulary, PreTokenizer pre_tokenizer, MergeTable merges, WholeWords whole_words)
      : Tokenizer(std::move(vocabulary)),
        pre_tokenizer_(std::move(pre_tokenizer)),
        merges_(std::move(merges)),
        whole_words_(whole_words) {
    StringTable bytes;
    for (int32_t id = 0; id < this->vocabulary().size(); ++id) bytes.append(bytes_of(id));
    set_token_bytes(std::move(bytes));
    const auto unknown = this->vocabulary().role(TokenRole::kUnknown);
    if (unknown && this->vocabulary().type(*unknown) == TokenType::kUnknown) unknown_ = unknown;
  }

 private:
  struct Scratch {
    PieceCache cache;
    MergeList merging;
  };

  std::string bytes_of(int32_t id) const {
    const std::string_view text = vocabulary().text(id);
    switch (vocabulary().type(id)) {
      case TokenType::kControl:
      case TokenType::kUnknown:
      case TokenType::kUserDefined:
        return std::string(text);
      default:
        return from_byte_alphabet(text);
    }
  }

  void encode_text(std::string_view text, TextStart /*start*/, std::vector<int32_t>& ids) const override {
    Scratch scratch{PieceCache(text.size()), {}};
    for (TextPiece piece : pre_tokenizer_.split(text)) {
      encode_piece(text.substr(piece.start, piece.length), scratch, ids);
    }
  }

  void encode_piece(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
    if (scratch.cache.replay(piece, ids)) return;
    const size_t first_id = ids.size();
    if (const auto whole = find_whole(piece)) {
      ids.push_back(*whole);
    } else {
      merge_piece(piece, scratch.merging, ids);
    }
    scratch.cache.remember(piece, first_id, ids);
  }

  // A piece that is a token as it stands, in vocabularies whose merges don't reach all of their tokens.
  std::optional<int32_t> find_whole(std::string_view piece) const {
    if (whole_words_ != WholeWords::kLookUpFirst) return std::nullopt;
    const auto id = vocabulary().find(to_byte_alphabet(piece));
    return id && is_text_token(vocabulary(), *id) ? id : std::nullopt;
  }

  void merge_piece(std::string_view piece, MergeList& merging, std::vector<int32_t>& ids) const {
    merging.clear();
    for (uint32_t at = 0; at < piece.size(); ++at) {
      merging.push_back(at, 1, merges_.byte_symbol(static_cast<uint8_t>(piece[at])));
    }
    merging.merge(
        [this](const MergeSymbol& left, const MergeSymbol& right) { return merges_.find(left.id, right.id); });
    merging.for_each([&](const MergeSymbol& symbol) {
      if (symbol.id < vocabulary().size()) {
        ids.push_back(symbol.id);
      } else {
        append_bytes(piece.substr(symbol.start, symbol.length), ids);
      }
    });
  }

  // Spells what merged to no token. A byte without a token is the unknown token, or lost where there is none: some
  // files name their end-of-text token as the unknown one, and no text may write that.
  void append_bytes(std::string_view bytes, std::vector<int32_t>& ids) const {
    for (char byte : bytes) {
      const int32_t symbol = merges_.byte_symbol(static_cast<uint8_t>(byte));
      if (symbol < vocabulary().size()) {
        ids.push_back(symbol);
      } else if (unknown_) {
        ids.push_back(*unknown_);
      }
    }
  }

  PreTokenizer pre_tokenizer_;
  MergeTable merges_;
  WholeWords whole_words_;
  std::optional<int32_t> unknown_;
};

Result<std::unique_ptr<Tokenizer>> make_byte_level_bpe(Vocabulary vocabulary, const Metadata& metadata) {
  const PreTokenizerRules* rules = find_pre_tokenizer_rules(vocabulary.pre());
  if (rules == nullptr) {
    return make_error(ErrorCode::kUnsupported, "tokenizer.ggml.pre: expected a known pre-tokenizer, found {}",
                      vocabulary.pre());
  }
  if (!metadata.contains("tokenizer.ggml.pre")) {
    log().warn("tokenizer.ggml.pre is missing: texts are cut by the default rules, which may not be the model's");
  }
  TRY_ASSIGN(PreTokenizer pre_tokenizer, PreTokenizer::compile(*rules));
  TRY_ASSIGN(MergeTable merges, MergeTable::load(vocabulary, metadata));
  return std::unique_ptr<Tokenizer>(std::make_unique<ByteLevelBpe>(std::move(vocabulary), std::move(pre_tokenizer),
                                                                   std::move(merges), rules->whole_words));
}

}  // namespace

const TokenizerKind tokenizer_byte_level_bpe = {"gpt2", make_byte_level_bpe};

}  // namespace ferrox
