// Does SentencePiece BPE give the ids of the obvious algorithm, and give back every byte?
#include <gtest/gtest.h>

#include "random_text.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "vocabulary_builder.h"

namespace ferrox {
namespace {

using testing::small_sentencepiece;
using testing::VocabularyBuilder;

std::optional<int32_t> find_mergeable(const Vocabulary& vocabulary, const std::string& text) {
  const auto id = vocabulary.find(text);
  return id && vocabulary.type(*id) == TokenType::kNormal ? id : std::nullopt;
}

// The slow way, on the whole text at once: join the neighbours that make the token of the highest score, again and
// again.
std::vector<int32_t> encode_naively(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<std::string> symbols;
  if (!text.empty()) symbols.emplace_back("\u2581");
  while (!text.empty()) {
    const size_t length = next_utf8(text).length;
    symbols.emplace_back(text[0] == ' ' ? "\u2581" : text.substr(0, length));
    text.remove_prefix(length);
  }
  while (true) {
    size_t best = symbols.size();
    float best_score = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto id = find_mergeable(vocabulary, symbols[i] + symbols[i + 1]);
      if (!id || (best < symbols.size() && vocabulary.score(*id) <= best_score)) continue;
      best = i;
      best_score = vocabulary.score(*id);
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<int32_t> ids;
  for (const std::string& symbol : symbols) {
    if (const auto id = find_mergeable(vocabulary, symbol)) {
      ids.push_back(*id);
    } else {
      for (char byte : symbol) ids.push_back(3 + static_cast<uint8_t>(byte));
    }
  }
  return ids;
}

TEST(SentencePieceBpe, EqualsTheNaiveAlgorithm) {
  VocabularyBuilder builder = small_sentencepiece();
  builder.types().back() = static_cast<int64_t>(TokenType::kControl);  // nothing is matched whole in user text
  std::mt19937 random(9);
  for (int turn = 0; turn < 600; ++turn) {
    if (turn % 20 == 0) {  // other scores, many of them equal
      for (double& score : builder.scores()) score = -static_cast<double>(random() % 8);
    }
    const auto tokenizer = builder.make();
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const std::string text = turn % 3 == 0   ? testing::random_bytes(random, 40)
                             : turn % 3 == 1 ? testing::random_unicode(random, 40)
                                             : testing::random_words(random, turn % 5 == 0 ? 200 : 20);
    EXPECT_EQ((*tokenizer)->encode(text, SpecialTokens::kAsText), encode_naively((*tokenizer)->vocabulary(), text))
        << ::testing::PrintToString(text);
  }
}

TEST(SentencePieceBpe, GivesBackEveryByte) {
  const auto tokenizer = small_sentencepiece().make();
  std::mt19937 random(10);
  for (int turn = 0; turn < 500; ++turn) {
    for (const std::string& text : {testing::random_bytes(random, turn % 90), testing::random_unicode(random, 40),
                                    testing::random_words(random, 30), std::string("  x"), std::string(" ")}) {
      if (text.find("\u2581") != std::string::npos) continue;  // the space mark itself reads as a space
      for (SpecialTokens special : {SpecialTokens::kParse, SpecialTokens::kAsText}) {
        const auto decoded = (*tokenizer)->decode((*tokenizer)->encode(text, special), SpecialText::kShow);
        EXPECT_EQ(*decoded, text) << ::testing::PrintToString(text);
      }
    }
  }
}

TEST(SentencePieceBpe, TextNeverSpellsBytesOrControls) {
  const auto tokenizer = small_sentencepiece().make();
  const Vocabulary& vocabulary = (*tokenizer)->vocabulary();
  for (const char* text : {"</s>", "<s>", "<unk>", "<0x41>", "<|im_end|>"}) {
    for (int32_t id : (*tokenizer)->encode(text, SpecialTokens::kAsText)) {
      EXPECT_FALSE(vocabulary.is_control(id)) << text;
      EXPECT_NE(vocabulary.type(id), TokenType::kUnknown) << text;
      EXPECT_NE(id, 3 + 0x41) << text;
    }
  }
}

TEST(SentencePieceBpe, PutsASpaceBeforeATextAndAfterSpecialTokens) {
  VocabularyBuilder builder = small_sentencepiece();
  const auto tokenizer = builder.make();
  const Vocabulary& vocabulary = (*tokenizer)->vocabulary();
  const int32_t the = *vocabulary.find("\u2581the");
  EXPECT_EQ((*tokenizer)->encode("the</s>the", SpecialTokens::kParse), (std::vector<int32_t>{the, 2, the}));
  EXPECT_EQ((*tokenizer)->encode("", SpecialTokens::kParse), std::vector<int32_t>{});
  builder.set("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ((*builder.make())->encode(" the", SpecialTokens::kParse), std::vector<int32_t>{the});
  EXPECT_EQ(*(*builder.make())->decode(std::vector<int32_t>{the}, SpecialText::kShow), " the");
}

TEST(SentencePieceBpe, Phi3DropsWhiteSpaceAfterItsControls) {
  VocabularyBuilder builder = small_sentencepiece();
  builder.set("general.name", std::string("Phi-3 mini"));
  const auto tokenizer = builder.make();
  const Vocabulary& vocabulary = (*tokenizer)->vocabulary();
  const std::vector<int32_t> expected = {*vocabulary.find("<|im_end|>"), *vocabulary.find("\u2581the")};
  EXPECT_EQ((*tokenizer)->encode("<|im_end|> \n\tthe", SpecialTokens::kParse), expected);
  EXPECT_EQ((*tokenizer)->encode("<s> the", SpecialTokens::kParse).size(), 3U);  // <s> keeps it
}

TEST(SentencePieceBpe, WithoutByteTokensWhatIsUnknownIsSo) {
  VocabularyBuilder builder("llama");
  builder.add("<unk>", TokenType::kUnknown);
  builder.add("<s>", TokenType::kControl);
  builder.add("</s>", TokenType::kControl);
  const int32_t mark = builder.add("\u2581", TokenType::kNormal, -1);
  const int32_t a = builder.add("a", TokenType::kNormal, -2);
  EXPECT_EQ((*builder.make())->encode("ab", SpecialTokens::kAsText), (std::vector<int32_t>{mark, a, 0}));
}

TEST(SentencePieceBpe, LongTextsOfOneKindCostNoMoreThanOthers) {
  const auto tokenizer = small_sentencepiece().make();
  for (const char* unit : {"a", "ab", " ", "\n", "<", "hello the ", "\xFF", "0x", "<think>"}) {
    std::string text;
    while (text.size() < 300'000) text += unit;
    const auto ids = (*tokenizer)->encode(text, SpecialTokens::kParse);
    EXPECT_EQ(*(*tokenizer)->decode(ids, SpecialText::kShow), text) << unit;
  }
}

}  // namespace
}  // namespace ferrox
