// Does byte-level BPE give the ids of the obvious algorithm, and give back every byte?
#include <gtest/gtest.h>

#include <map>

#include "random_text.h"
#include "text/byte_alphabet.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"
#include "vocabulary_builder.h"

namespace ferrox {
namespace {

using testing::small_byte_level;
using testing::VocabularyBuilder;

TEST(ByteAlphabet, SpellsEachByteAsOneCharacter) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(from_byte_alphabet(to_byte_alphabet(all)), all);
  EXPECT_EQ(to_byte_alphabet(" \n~\x7F\xAD\xFF"), "\u0120\u010A~\u0121\u0143\u00FF");
  EXPECT_EQ(from_byte_alphabet("a \u4E2D\xFF"), "a \u4E2D\xFF");  // outside the alphabet: itself
}

// The slow way, on strings: merge the best pair of neighbours until there is none, word by word.
std::vector<int32_t> encode_naively(const VocabularyBuilder& builder, const Vocabulary& vocabulary,
                                    const PreTokenizer& pre_tokenizer, std::string_view text) {
  std::map<std::string, size_t> ranks;
  for (const std::string& merge : builder.merges()) ranks.try_emplace(merge, ranks.size());
  std::vector<int32_t> ids;
  for (TextPiece piece : pre_tokenizer.split(text)) {
    std::vector<std::string> symbols;
    for (char byte : text.substr(piece.start, piece.length)) {
      symbols.emplace_back(alphabet_character(static_cast<uint8_t>(byte)));
    }
    while (true) {
      size_t best = 0;
      size_t best_rank = ranks.size();
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto found = ranks.find(symbols[i] + " " + symbols[i + 1]);
        if (found == ranks.end() || found->second >= best_rank) continue;
        best = i;
        best_rank = found->second;
      }
      if (best_rank == ranks.size()) break;
      symbols[best] += symbols[best + 1];
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    for (const std::string& symbol : symbols) ids.push_back(*vocabulary.find(symbol));
  }
  return ids;
}

TEST(ByteLevelBpe, EqualsTheNaiveAlgorithm) {
  for (const char* pre : {"gpt-2", "qwen2", "deepseek-coder"}) {
    VocabularyBuilder builder = small_byte_level(pre);
    builder.types().back() = static_cast<int64_t>(TokenType::kControl);  // nothing is matched whole in user text
    const auto tokenizer = builder.make();
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const auto pre_tokenizer = PreTokenizer::compile(*find_pre_tokenizer_rules(pre));
    std::mt19937 random(7);
    for (int turn = 0; turn < 300; ++turn) {
      const std::string text = turn % 3 == 0   ? testing::random_bytes(random, 60)
                               : turn % 3 == 1 ? testing::random_unicode(random, 60)
                                               : testing::random_words(random, turn % 5 == 0 ? 400 : 30);
      const auto naive = encode_naively(builder, (*tokenizer)->vocabulary(), *pre_tokenizer, text);
      EXPECT_EQ((*tokenizer)->encode(text, SpecialTokens::kAsText), naive) << ::testing::PrintToString(text);
    }
  }
}

TEST(ByteLevelBpe, GivesBackEveryByte) {
  const auto tokenizer = small_byte_level().make();
  std::mt19937 random(8);
  for (int turn = 0; turn < 500; ++turn) {
    for (const std::string& text : {testing::random_bytes(random, turn % 90), testing::random_unicode(random, 40),
                                    testing::random_words(random, 30)}) {
      for (SpecialTokens special : {SpecialTokens::kParse, SpecialTokens::kAsText}) {
        const auto decoded = (*tokenizer)->decode((*tokenizer)->encode(text, special), SpecialText::kShow);
        EXPECT_EQ(*decoded, text) << ::testing::PrintToString(text);
      }
    }
  }
}

TEST(ByteLevelBpe, LooksWholeWordsUpWhereItsModelDoes) {
  for (const bool looks_up : {true, false}) {
    VocabularyBuilder builder = small_byte_level(looks_up ? "llama-bpe" : "dbrx");
    const int32_t word = builder.add("qz");  // no merge makes it
    const auto tokenizer = builder.make();
    const auto ids = (*tokenizer)->encode("qz", SpecialTokens::kAsText);
    EXPECT_EQ(ids, looks_up ? std::vector<int32_t>{word} : (std::vector<int32_t>{'q', 'z'}));
  }
}

TEST(ByteLevelBpe, MergesPassThroughStringsThatAreNoTokens) {
  VocabularyBuilder builder = small_byte_level("gpt-2");
  builder.add_raw_merge("x y");  // "xy" is no token, "xyz" is
  builder.add_raw_merge("xy z");
  const int32_t xyz = builder.add("xyz");
  const auto tokenizer = builder.make();
  EXPECT_EQ((*tokenizer)->encode("xyz", SpecialTokens::kAsText), std::vector<int32_t>{xyz});
  EXPECT_EQ((*tokenizer)->encode("xy", SpecialTokens::kAsText), (std::vector<int32_t>{'x', 'y'}));
}

TEST(ByteLevelBpe, MergingNeverGivesAControlToken) {
  VocabularyBuilder builder = small_byte_level("gpt-2");
  builder.add("+x", TokenType::kControl);
  builder.add_raw_merge("+ x");
  const auto tokenizer = builder.make();
  EXPECT_EQ((*tokenizer)->encode("++x", SpecialTokens::kAsText), (std::vector<int32_t>{'+', '+', 'x'}));
  VocabularyBuilder whole = small_byte_level("llama-bpe");
  whole.add("++", TokenType::kControl);
  EXPECT_EQ((*whole.make())->encode("++", SpecialTokens::kAsText), (std::vector<int32_t>{'+', '+'}));
}

TEST(ByteLevelBpe, AMissingByteIsTheUnknownTokenOrLost) {
  VocabularyBuilder builder("gpt2", "gpt-2");
  const int32_t end = builder.add("<|endoftext|>", TokenType::kControl);
  const int32_t unknown = builder.add("<unk>", TokenType::kUnknown);
  const int32_t a = builder.add("a");
  builder.add_merge("a", "a");
  VocabularyBuilder other = builder;
  builder.set("tokenizer.ggml.unknown_token_id", static_cast<uint64_t>(unknown));
  other.set("tokenizer.ggml.unknown_token_id", static_cast<uint64_t>(end));
  EXPECT_EQ((*builder.make())->encode("ab", SpecialTokens::kAsText), (std::vector<int32_t>{a, unknown}));
  EXPECT_EQ((*other.make())->encode("ab", SpecialTokens::kAsText), (std::vector<int32_t>{a}));
}

TEST(ByteLevelBpe, LongTextsOfOneKindCostNoMoreThanOthers) {
  const auto tokenizer = small_byte_level().make();
  for (const char* unit : {"a", "ab", " ", "\n", "<", "hello the ", "\xFF", "1", "<think>"}) {
    std::string text;
    while (text.size() < 300'000) text += unit;
    const auto ids = (*tokenizer)->encode(text, SpecialTokens::kParse);
    EXPECT_EQ(*(*tokenizer)->decode(ids, SpecialText::kShow), text) << unit;
  }
}

}  // namespace
}  // namespace ferrox
