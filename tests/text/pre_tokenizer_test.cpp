// Does each row of pre-tokenizer rules cut texts as its model does, cover them, and survive any of them?
#include "text/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <set>

#include "random_text.h"

namespace ferrox {
namespace {

std::vector<std::string> cut(std::string_view name, std::string_view text) {
  const auto pre_tokenizer = PreTokenizer::compile(*find_pre_tokenizer_rules(name));
  std::vector<std::string> pieces;
  for (TextPiece piece : pre_tokenizer->split(text)) pieces.emplace_back(text.substr(piece.start, piece.length));
  return pieces;
}

using Pieces = std::vector<std::string>;

TEST(PreTokenizer, CutsAsEachFamilyDoes) {
  const std::string text = "I'll pay 12345 USD,\r\n  don't  ask!!\n";
  EXPECT_EQ(cut("gpt-2", text),
            (Pieces{"I", "'ll", " pay", " 12345", " USD", ",", "\r\n ", " don", "'t", " ", " ask", "!!", "\n"}));
  EXPECT_EQ(cut("llama-bpe", text),
            (Pieces{"I", "'ll", " pay", " ", "123", "45", " USD", ",\r\n", " ", " don", "'t", " ", " ask", "!!\n"}));
  EXPECT_EQ(cut("qwen2", text), (Pieces{"I", "'ll", " pay", " ", "1", "2", "3", "4", "5", " USD", ",\r\n", " ", " don",
                                        "'t", " ", " ask", "!!\n"}));
  EXPECT_EQ(cut("smollm", "a 12"), (Pieces{"a", " ", "1", "2"}));
  EXPECT_EQ(cut("falcon", "x+=1234"), (Pieces{"x", "+=", "123", "4"}));
  EXPECT_EQ(cut("deepseek-v3", "x=12345 \u4E2D\u6587ok"), (Pieces{"x", "=", "123", "45", " ", "\u4E2D\u6587", "ok"}));
  EXPECT_EQ(cut("deepseek-coder", "a b\n12"), (Pieces{"a", " b", "\n", "1", "2"}));
  EXPECT_EQ(cut("gpt-4o", "HelloWorld's ABCdef"), (Pieces{"Hello", "World's", " ABCdef"}));
  EXPECT_EQ(cut("tekken", "HelloWORLD's 12/\n"), (Pieces{"Hello", "WORLD", "'s", " ", "1", "2", "/\n"}));
  EXPECT_EQ(cut("kimi-k2", "ab\u4E2D\u6587cd 1234"), (Pieces{"ab", "\u4E2D\u6587", "cd", " ", "123", "4"}));
  EXPECT_EQ(cut("bloom", "to be, or"), (Pieces{"to", " be", ",", " or"}));
  EXPECT_EQ(cut("qwen35", "ne\u0301e"), (Pieces{"ne\u0301e"}));
  EXPECT_EQ(cut("qwen2", "ne\u0301e"), (Pieces{"ne", "\u0301e"}));
}

TEST(PreTokenizer, CountsDigitsFromTheEndWhereItsModelDoes) {
  EXPECT_EQ(cut("afmoe", "1234567"), (Pieces{"1", "234", "567"}));
  EXPECT_EQ(cut("afmoe", "123456"), (Pieces{"123", "456"}));
  EXPECT_EQ(cut("tiny_aya", "12345 6"), (Pieces{"12", "345", " ", "6"}));
  EXPECT_EQ(cut("tiny_aya", "12345a"), (Pieces{"123", "45", "a"}));  // the number doesn't end the word
  EXPECT_EQ(cut("afmoe", "\uFF11\uFF12\uFF13\uFF14"), (Pieces{"\uFF11", "\uFF12\uFF13\uFF14"}));
}

TEST(PreTokenizer, Jais2SplitsSpacesByPowersOfTwo) {
  EXPECT_EQ(cut("jais-2", std::string(13, ' ') + "x"), (Pieces{"        ", "    ", " x"}));
  EXPECT_EQ(cut("jais-2", "!\n   \n  x"), (Pieces{"!\n", "   \n", " ", " x"}));
}

TEST(PreTokenizer, WhiteSpaceIsUnicodes) {
  EXPECT_EQ(cut("gpt-2", "\u2003\u2003a"), (Pieces{"\u2003", "\u2003", "a"}));
  EXPECT_EQ(cut("gpt-2", "a\u180Eb"), (Pieces{"a", "\u180E", "b"}));
  EXPECT_EQ(cut("gpt-2", "!\u180E!"), (Pieces{"!\u180E!"}));  // U+180E is no space
}

TEST(PreTokenizer, BytesThatAreNoTextStandAlone) {
  EXPECT_EQ(cut("gpt-2",
                "ab\xFF\xE2\x82"
                "cd\xE2\x82"),
            (Pieces{"ab", "\xFF", "\xE2\x82", "cd", "\xE2\x82"}));
  EXPECT_EQ(cut("default", "\xED\xA0\x80"), (Pieces{"\xED", "\xA0", "\x80"}));
}

// Texts that make a careless pattern backtrack: 20,000 characters each.
std::vector<std::string> hostile_texts() {
  const std::string_view units[] = {"a",      "A",      " ",      "\n",  "1",           "!",         "'",
                                    "aA",     "1a",     "a ",     " \n", "\r\n",        "\xFF",      "\u0301",
                                    "\u4E2D", "\uFF11", "\u3000", "_",   "<sentinel:1", "IMGIMGABCD"};
  std::vector<std::string> texts = {std::string(20'000, ' ') + "x", std::string(20'000, '1') + "a", "",
                                    std::string(20'000, 'A') + "1"};
  for (std::string_view unit : units) {
    texts.emplace_back();
    while (texts.back().size() < 20'000) texts.back() += unit;
  }
  return texts;
}

std::string patterns_of(const PreTokenizerRules& rules) {
  std::string joined;
  for (const PreTokenizerPass& pass : rules.passes) joined.append(pass.pattern).push_back('\n');
  return joined;
}

TEST(PreTokenizer, EveryRowCoversEveryText) {
  std::mt19937 random(6);
  std::vector<std::string> texts = hostile_texts();
  for (int i = 0; i < 20; ++i) {
    texts.push_back(testing::random_unicode(random, 300));
    texts.push_back(testing::random_bytes(random, 300));
    texts.push_back(testing::random_words(random, 100));
  }
  std::set<std::string_view> names;
  std::set<std::string> patterns;
  for (const PreTokenizerRules& rules : all_pre_tokenizer_rules()) {
    EXPECT_TRUE(names.insert(rules.name).second) << rules.name << " stands twice";
    EXPECT_NE(rules.passes[0].cut, Cut::kNone) << rules.name;
    const auto pre_tokenizer = PreTokenizer::compile(rules);
    ASSERT_TRUE(pre_tokenizer) << pre_tokenizer.error().message;
    if (!patterns.insert(patterns_of(rules)).second) continue;  // tried under another name
    for (const std::string& text : texts) {
      size_t covered = 0;
      for (TextPiece piece : pre_tokenizer->split(text)) {
        ASSERT_EQ(piece.start, covered) << rules.name;
        ASSERT_GT(piece.length, 0U) << rules.name;
        covered += piece.length;
      }
      ASSERT_EQ(covered, text.size()) << rules.name;
    }
  }
  EXPECT_EQ(find_pre_tokenizer_rules("no-such-row"), nullptr);
}

}  // namespace
}  // namespace ferrox
