// Which two symbols does a vocabulary's merge list join, into what and in which order?
#include "text/merge_table.h"

#include <algorithm>
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

struct Merge {
  std::string_view left;
  std::string_view right;
  std::string joined;
};

Result<void> parse(std::string_view line, size_t rank, Merge& merge) {
  const size_t space = line.find(' ', 1);
  if (space == std::string_view::npos || space + 1 == line.size()) {
    return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.merges: expected two words in merge {}, found \"{}\"", rank,
                      line);
  }
  merge.left = line.substr(0, space);
  merge.right = line.substr(space + 1);
  merge.joined.assign(merge.left).append(merge.right);
  return {};
}

}  // namespace

Result<MergeTable> MergeTable::load(const Vocabulary& vocabulary, const Metadata& metadata) {
  TRY_ASSIGN(const std::span<const std::string_view> lines, metadata.get_strings("tokenizer.ggml.merges"));
  if (lines.size() > static_cast<size_t>(INT32_MAX - vocabulary.size()) / 3 - 256) {  // at most 3 new symbols each
    return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.merges: expected fewer than 2^31 symbols, found {} merges",
                      lines.size());
  }
  MergeTable table;
  table.pairs_ = PairMap(lines.size());
  SymbolNames names(vocabulary);
  for (size_t byte = 0; byte < 256; ++byte) {
    table.byte_symbols_[byte] = names.number(alphabet_character(static_cast<uint8_t>(byte)));
  }
  // Loading is nothing but cache misses, so they are taken a block at a time, each step fetching for the next.
  std::array<Merge, 32> block;
  std::array<std::array<int32_t, 3>, 32> symbols;
  for (size_t first = 0; first < lines.size(); first += block.size()) {
    const size_t n = std::min(block.size(), lines.size() - first);
    for (size_t i = 0; i < n; ++i) {
      TRY(parse(lines[first + i], first + i, block[i]));
      for (std::string_view text : {block[i].left, block[i].right, std::string_view(block[i].joined)}) {
        vocabulary.prefetch(text);
      }
    }
    for (size_t i = 0; i < n; ++i) {
      symbols[i] = {names.number(block[i].left), names.number(block[i].right), names.number(block[i].joined)};
      table.pairs_.prefetch(static_cast<uint32_t>(symbols[i][0]), static_cast<uint32_t>(symbols[i][1]));
    }
    for (size_t i = 0; i < n; ++i) {
      table.pairs_.insert(static_cast<uint32_t>(symbols[i][0]), static_cast<uint32_t>(symbols[i][1]),
                          {static_cast<uint32_t>(first + i), symbols[i][2]});
    }
  }
  return table;
}

bool is_text_token(const Vocabulary& vocabulary, int32_t id) {
  const TokenType type = vocabulary.type(id);
  return type == TokenType::kNormal || type == TokenType::kUnused;
}

}  // namespace ferrox
