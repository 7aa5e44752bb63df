// Which two symbols does a vocabulary's merge list join, into what and in which order?
#include "text/merge_table.h"

#include <string>
#include <string_view>
#include <unordered_map>

#include "text/byte_alphabet.h"

namespace ferrox {
namespace {

// Numbers symbols by their text: tokens first, then whatever else turns up.
class SymbolNames {
 public:
  explicit SymbolNames(const Vocabulary& vocabulary) : vocabulary_(vocabulary), next_(vocabulary.size()) {}

  int32_t number(std::string_view text) {
    if (const auto id = vocabulary_.find(text); id && is_text_token(vocabulary_, *id)) return *id;
    const auto [entry, is_new] = others_.try_emplace(std::string(text), next_);
    if (is_new) ++next_;
    return entry->second;
  }

 private:
  const Vocabulary& vocabulary_;
  std::unordered_map<std::string, int32_t> others_;
  int32_t next_;
};

bool is_concatenation(std::string_view text, std::string_view left, std::string_view right) {
  return text.size() == left.size() + right.size() && text.starts_with(left) && text.ends_with(right);
}

}  // namespace

Result<MergeTable> MergeTable::load(const Vocabulary& vocabulary, const Metadata& metadata) {
  TRY_ASSIGN(const std::span<const std::string_view> merges, metadata.get_strings("tokenizer.ggml.merges"));
  if (merges.size() > static_cast<size_t>(INT32_MAX - vocabulary.size()) / 3 - 256) {  // at most 3 new symbols each
    return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.merges: expected fewer than 2^31 symbols, found {} merges",
                      merges.size());
  }
  MergeTable table;
  table.pairs_ = PairMap(merges.size());
  SymbolNames names(vocabulary);
  for (size_t byte = 0; byte < 256; ++byte) {
    table.byte_symbols_[byte] = names.number(alphabet_character(static_cast<uint8_t>(byte)));
  }
  std::string joined;
  int32_t joined_symbol = -1;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view merge = merges[rank];
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size()) {
      return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.merges: expected two words in merge {}, found \"{}\"",
                        rank, merge);
    }
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    if (!is_concatenation(joined, left, right)) {  // lists often have all ways to make one token in a row
      joined.assign(left).append(right);
      joined_symbol = names.number(joined);
    }
    table.pairs_.insert(static_cast<uint32_t>(names.number(left)), static_cast<uint32_t>(names.number(right)),
                        {static_cast<uint32_t>(rank), joined_symbol});
  }
  return table;
}

bool is_text_token(const Vocabulary& vocabulary, int32_t id) {
  const TokenType type = vocabulary.type(id);
  return type == TokenType::kNormal || type == TokenType::kUnused;
}

}  // namespace ferrox
