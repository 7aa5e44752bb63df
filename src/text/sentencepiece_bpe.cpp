// How does SentencePiece's BPE (Llama 2 and its relatives) tokenize a run of text?
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>

#include "text/merge.h"
#include "text/pair_map.h"
#include "text/piece_cache.h"
#include "text/tokenizer_kind.h"
#include "text/utf8.h"

namespace ferrox {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";  // stands for a space inside tokens

// The first symbol of `text`: a character, or bytes that aren't one.
std::string_view first_symbol(std::string_view text) { return text.substr(0, next_utf8(text).length); }

// A symbol's bytes, at most four, as a number. Different symbols differ.
uint32_t symbol_number(std::string_view symbol) {
  uint32_t number = 0;
  std::memcpy(&number, symbol.data(), symbol.size());
  return number;
}

std::string mark_spaces(std::string_view prefix, std::string_view text) {
  std::string marked(prefix);
  marked.reserve(text.size() + text.size() / 2);
  for (char c : text) {
    if (c == ' ') {
      marked.append(kSpaceMark);
    } else {
      marked.push_back(c);
    }
  }
  return marked;
}

std::string unmark_spaces(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const bool is_mark = text.substr(at).starts_with(kSpaceMark);
    plain.push_back(is_mark ? ' ' : text[at]);
    at += is_mark ? kSpaceMark.size() : 1;
  }
  return plain;
}

// The byte that a token spelled <0x41> stands for.
std::optional<uint8_t> spelled_byte(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const size_t high = kDigits.find(text[3]);
  const size_t low = kDigits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<uint8_t>(high * 16 + low);
}

constexpr int32_t kNoToken = -1;

class SentencePieceBpe final : public Tokenizer {
 public:
  SentencePieceBpe(Vocabulary vocabulary, std::array<int32_t, 256> byte_tokens)
      : Tokenizer(std::move(vocabulary)), byte_tokens_(byte_tokens) {
    StringTable bytes;
    for (int32_t id = 0; id < this->vocabulary().size(); ++id) bytes.append(bytes_of(id));
    set_token_bytes(std::move(bytes));
    rank_by_score();
    collect_neighbours();
  }

 private:
  bool may_come_from_merging(int32_t id) const {
    const TokenType type = vocabulary().type(id);
    return type == TokenType::kNormal || type == TokenType::kUserDefined || type == TokenType::kUnused;
  }

  std::string bytes_of(int32_t id) const {
    const std::string_view text = vocabulary().text(id);
    switch (vocabulary().type(id)) {
      case TokenType::kByte:
        return std::string(1, static_cast<char>(*spelled_byte(text)));
      case TokenType::kNormal:
      case TokenType::kUnused:
        return unmark_spaces(text);
      default:
        return std::string(text);
    }
  }

  // The highest score merges first: rank 0. Equal scores share a rank, so the leftmost of them goes first.
  void rank_by_score() {
    std::vector<int32_t> order(static_cast<size_t>(vocabulary().size()));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [this](int32_t a, int32_t b) { return vocabulary().score(a) > vocabulary().score(b); });
    ranks_.resize(order.size());
    uint32_t rank = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && vocabulary().score(order[i]) != vocabulary().score(order[i - 1])) ++rank;
      ranks_[static_cast<size_t>(order[i])] = rank;
    }
  }

  // Symbols that stand side by side inside some token. Between any others no merge can happen, so the text is cut
  // there and its parts merged apart: the same ids, from queues of a word's length instead of the text's.
  void collect_neighbours() {
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (int32_t id = 0; id < vocabulary().size(); ++id) {
      if (!may_come_from_merging(id)) continue;
      std::string_view rest = vocabulary().text(id);
      uint32_t previous = 0;
      for (bool is_first = true; !rest.empty(); is_first = false) {
        const std::string_view symbol = first_symbol(rest);
        if (!is_first) pairs.emplace_back(previous, symbol_number(symbol));
        previous = symbol_number(symbol);
        rest.remove_prefix(symbol.size());
      }
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    neighbours_ = PairMap(pairs.size());
    for (const auto& [left, right] : pairs) neighbours_.insert(left, right, {0, 0});
  }

  void encode_text(std::string_view text, TextStart start, std::vector<int32_t>& ids) const override {
    const bool has_prefix = vocabulary().adds_space_prefix() && start == TextStart::kAfterToken;
    const std::string marked = mark_spaces(has_prefix ? kSpaceMark : "", text);
    PieceCache cache(marked.size());
    MergeList merging;
    for (std::string_view rest = marked; !rest.empty();) {
      const std::string_view part = mergeable_prefix(rest);
      rest.remove_prefix(part.size());
      if (cache.replay(part, ids)) continue;
      const size_t first_id = ids.size();
      merge_part(part, merging, ids);
      cache.remember(part, first_id, ids);
    }
  }

  std::string_view mergeable_prefix(std::string_view text) const {
    size_t end = first_symbol(text).size();
    uint32_t previous = symbol_number(text.substr(0, end));
    while (end < text.size()) {
      const std::string_view symbol = first_symbol(text.substr(end));
      const uint32_t number = symbol_number(symbol);
      if (neighbours_.find(previous, number).rank == PairMap::kNone) break;
      end += symbol.size();
      previous = number;
    }
    return text.substr(0, end);
  }

  void merge_part(std::string_view part, MergeList& merging, std::vector<int32_t>& ids) const {
    merging.clear();
    for (size_t at = 0; at < part.size();) {
      const std::string_view symbol = first_symbol(part.substr(at));
      merging.push_back(static_cast<uint32_t>(at), static_cast<uint32_t>(symbol.size()), find_text_token(symbol));
      at += symbol.size();
    }
    merging.merge([&](const MergeSymbol& left, const MergeSymbol& right) -> PairMap::Value {
      const int32_t id = find_text_token(part.substr(left.start, left.length + right.length));
      if (id == kNoToken) return {};
      return {ranks_[static_cast<size_t>(id)], id};
    });
    merging.for_each([&](const MergeSymbol& symbol) {
      if (symbol.id != kNoToken) {
        ids.push_back(symbol.id);
      } else {
        append_bytes(part.substr(symbol.start, symbol.length), ids);
      }
    });
  }

  int32_t find_text_token(std::string_view text) const {
    const auto id = vocabulary().find(text);
    return id && may_come_from_merging(*id) ? *id : kNoToken;
  }

  void append_bytes(std::string_view bytes, std::vector<int32_t>& ids) const {
    for (char byte : bytes) ids.push_back(byte_tokens_[static_cast<uint8_t>(byte)]);
  }

  std::array<int32_t, 256> byte_tokens_;  // the unknown token where a byte has none
  std::vector<uint32_t> ranks_;           // of each token
  PairMap neighbours_;
};

Result<std::array<int32_t, 256>> collect_byte_tokens(const Vocabulary& vocabulary) {
  std::array<int32_t, 256> tokens;
  const int32_t unknown = vocabulary.role(TokenRole::kUnknown).value_or(kNoToken);
  tokens.fill(vocabulary.ends_generation(unknown) ? kNoToken : unknown);  // no text may write an end of answer
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.type(id) != TokenType::kByte) continue;
    const auto byte = spelled_byte(vocabulary.text(id));
    if (!byte) {
      return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.tokens: expected a byte like <0x41> in token {}, found {}",
                        id, vocabulary.text(id));
    }
    tokens[*byte] = id;
  }
  const auto missing = std::find(tokens.begin(), tokens.end(), kNoToken);
  if (missing == tokens.end()) return tokens;
  return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.tokens: expected an unknown token or one for byte {:#04x}",
                    missing - tokens.begin());
}

Result<std::unique_ptr<Tokenizer>> make_sentencepiece_bpe(Vocabulary vocabulary, const Metadata& /*metadata*/) {
  if (!vocabulary.has_scores()) {
    return make_error(ErrorCode::kNotFound, "tokenizer.ggml.scores: a llama vocabulary needs them, found none");
  }
  TRY_ASSIGN(const auto byte_tokens, collect_byte_tokens(vocabulary));
  return std::unique_ptr<Tokenizer>(std::make_unique<SentencePieceBpe>(std::move(vocabulary), byte_tokens));
}

}  // namespace

const TokenizerKind tokenizer_sentencepiece_bpe = {"llama", make_sentencepiece_bpe};

}  // namespace ferrox
