// Is a vocabulary read as the file means it, and refused by name where the file contradicts itself?
#include "text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "vocabulary_builder.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::small_byte_level;
using testing::small_sentencepiece;
using testing::VocabularyBuilder;

Vocabulary load(const VocabularyBuilder& builder) {
  auto loaded = Vocabulary::load(builder.metadata());
  EXPECT_TRUE(loaded) << loaded.error().message;
  return std::move(*loaded);
}

std::string refusal(const VocabularyBuilder& builder) {
  const auto made = builder.make();
  return made ? "accepted" : made.error().message;
}

TEST(Vocabulary, KnowsItsTokens) {
  VocabularyBuilder builder("llama");
  builder.add("a", TokenType::kNormal, -1.5F);
  builder.add("", TokenType::kUnused);
  builder.add("a", TokenType::kControl);
  const Vocabulary vocabulary = load(builder);
  EXPECT_EQ(vocabulary.size(), 3);
  EXPECT_EQ(vocabulary.text(0), "a");
  EXPECT_EQ(vocabulary.score(0), -1.5F);
  EXPECT_TRUE(vocabulary.is_control(2));
  EXPECT_EQ(vocabulary.find("a"), 0);  // the lowest of equals
  EXPECT_EQ(vocabulary.find("b"), std::nullopt);
  EXPECT_EQ(vocabulary.find(""), std::nullopt);
  EXPECT_TRUE(vocabulary.contains(2));
  EXPECT_FALSE(vocabulary.contains(3));
  EXPECT_FALSE(vocabulary.contains(-1));
}

TEST(Vocabulary, TakesRolesFromTheFileOrFromSpelling) {
  VocabularyBuilder builder = small_byte_level();
  builder.set("tokenizer.ggml.bos_token_id", uint64_t{3});
  builder.set("tokenizer.ggml.eos_token_id", uint64_t{7});
  const int32_t prefix = builder.add("<|fim_prefix|>");
  const Vocabulary vocabulary = load(builder);
  EXPECT_EQ(vocabulary.bos(), 3);
  EXPECT_EQ(vocabulary.eos(), 7);
  EXPECT_EQ(vocabulary.role(TokenRole::kEot), vocabulary.find("<|im_end|>"));
  EXPECT_EQ(vocabulary.role(TokenRole::kFimPrefix), prefix);
  EXPECT_TRUE(vocabulary.is_control(prefix));  // whatever type the file gave it
  EXPECT_EQ(vocabulary.role(TokenRole::kPadding), std::nullopt);
}

TEST(Vocabulary, CollectsWhatEndsAnAnswer) {
  VocabularyBuilder builder = small_byte_level();
  builder.set("tokenizer.ggml.eos_token_id", uint64_t{7});
  const Vocabulary vocabulary = load(builder);
  const int32_t endoftext = *vocabulary.find("<|endoftext|>");
  const int32_t im_end = *vocabulary.find("<|im_end|>");
  EXPECT_THAT(vocabulary.end_of_generation(), ElementsAre(7, endoftext, im_end));
  EXPECT_TRUE(vocabulary.ends_generation(im_end));
  EXPECT_FALSE(vocabulary.ends_generation(*vocabulary.find("<|im_start|>")));
}

TEST(Vocabulary, AnInnerEndDoesntEndAnAnswer) {
  VocabularyBuilder builder("gpt2");
  const int32_t end = builder.add("<|end|>", TokenType::kControl);
  EXPECT_TRUE(load(builder).ends_generation(end));
  const int32_t call = builder.add("<|call|>", TokenType::kControl);
  const int32_t done = builder.add("<|return|>", TokenType::kControl);
  EXPECT_THAT(load(builder).end_of_generation(), ElementsAre(call, done));
}

TEST(Vocabulary, SentencePieceHasUsualIdsAndFlags) {
  const Vocabulary vocabulary = load(small_sentencepiece());
  EXPECT_EQ(vocabulary.bos(), 1);
  EXPECT_EQ(vocabulary.eos(), 2);
  EXPECT_EQ(vocabulary.role(TokenRole::kUnknown), 0);
  EXPECT_TRUE(vocabulary.adds_bos());
  EXPECT_TRUE(vocabulary.adds_space_prefix());
  EXPECT_FALSE(vocabulary.adds_eos());
}

TEST(Vocabulary, AddsBosAsTheFileOrThePreTokenizerSays) {
  VocabularyBuilder llama3 = small_byte_level("llama-bpe");
  EXPECT_FALSE(load(llama3).adds_bos());  // there is none
  llama3.set("tokenizer.ggml.bos_token_id", uint64_t{3});
  EXPECT_TRUE(load(llama3).adds_bos());
  VocabularyBuilder qwen = small_byte_level("qwen2");
  qwen.set("tokenizer.ggml.bos_token_id", uint64_t{3});
  EXPECT_FALSE(load(qwen).adds_bos());
  llama3.set("tokenizer.ggml.add_bos_token", false);
  EXPECT_FALSE(load(llama3).adds_bos());
}

TEST(Vocabulary, RefusesFilesThatContradictThemselves) {
  VocabularyBuilder scores = small_sentencepiece();
  scores.scores().pop_back();
  EXPECT_THAT(refusal(scores), HasSubstr("tokenizer.ggml.scores: expected"));
  scores = small_sentencepiece();
  scores.scores()[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(scores), HasSubstr("nan for token 5"));

  VocabularyBuilder types = small_byte_level();
  types.types().push_back(1);
  EXPECT_THAT(refusal(types), HasSubstr("tokenizer.ggml.token_type: expected"));
  for (int64_t bad : {int64_t{-1}, int64_t{7}, INT64_MAX}) {
    types = small_byte_level();
    types.types()[9] = bad;
    EXPECT_THAT(refusal(types), HasSubstr("for token 9"));
  }

  VocabularyBuilder ids = small_byte_level();
  ids.set("tokenizer.ggml.eot_token_id", uint64_t{1} << 32);
  EXPECT_THAT(refusal(ids), HasSubstr("tokenizer.ggml.eot_token_id: expected a token below"));
  ids = small_byte_level();
  ids.set("tokenizer.ggml.bos_token_id", std::string("zero"));
  EXPECT_THAT(refusal(ids), HasSubstr("tokenizer.ggml.bos_token_id"));

  EXPECT_THAT(refusal(VocabularyBuilder("llama")), HasSubstr("tokenizer.ggml.tokens"));
}

TEST(Vocabulary, RefusesWhatItDoesntKnowByName) {
  EXPECT_THAT(refusal(small_byte_level("no-such-rules")), HasSubstr("found no-such-rules"));
  VocabularyBuilder model("morse");
  model.add("-");
  EXPECT_THAT(refusal(model), HasSubstr("expected one of gpt2, llama, found morse"));
  const auto none = make_tokenizer(Metadata());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST(Vocabulary, RefusesMergesThatAreNone) {
  for (const char* line : {"", "a", "ab", " a", "a "}) {
    VocabularyBuilder builder = small_byte_level();
    builder.add_raw_merge(line);
    EXPECT_THAT(refusal(builder), HasSubstr("tokenizer.ggml.merges: expected two words")) << line;
  }
  VocabularyBuilder builder("gpt2");
  builder.add("a");
  EXPECT_THAT(refusal(builder), HasSubstr("tokenizer.ggml.merges"));
}

TEST(Vocabulary, RefusesBytesThatAreNone) {
  for (const char* text : {"<0x4>", "<0xg1>", "A", "<0x411>"}) {
    VocabularyBuilder builder = small_sentencepiece();
    builder.add(text, TokenType::kByte);
    EXPECT_THAT(refusal(builder), HasSubstr(text));
  }
  VocabularyBuilder builder("llama");  // neither bytes nor an unknown token that may stand for them
  builder.set("tokenizer.ggml.eos_token_id", uint64_t{0});
  builder.add("<unk>", TokenType::kUnknown);
  EXPECT_THAT(refusal(builder), HasSubstr("byte 0x00"));
}

}  // namespace
}  // namespace ferrox
