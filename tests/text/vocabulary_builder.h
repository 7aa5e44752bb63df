// Which vocabularies do the tests of `text` use? Small ones, written here as a model file would hold them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gguf/metadata.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace ferrox::testing {

/// Collects tokens and writes them as `tokenizer.ggml.*` metadata, which views this builder's strings.
class VocabularyBuilder {
 public:
  explicit VocabularyBuilder(std::string model, std::string pre = "")
      : model_(std::move(model)), pre_(std::move(pre)) {}

  int32_t add(std::string text, TokenType type = TokenType::kNormal, float score = 0) {
    tokens_.push_back(std::move(text));
    types_.push_back(static_cast<int64_t>(type));
    scores_.push_back(score);
    return static_cast<int32_t>(tokens_.size()) - 1;
  }

  /// A merge and, unless it is there, the token that comes out.
  void add_merge(const std::string& left, const std::string& right) {
    merges_.push_back(left + " " + right);
    for (const std::string& token : tokens_) {
      if (token == left + right) return;
    }
    add(left + right);
  }
  void add_raw_merge(std::string line) { merges_.push_back(std::move(line)); }

  /// Any further pair.
  void set(std::string key, MetaValue value) { others_.emplace_back(std::move(key), std::move(value)); }

  std::vector<std::string>& tokens() { return tokens_; }
  std::vector<int64_t>& types() { return types_; }
  std::vector<double>& scores() { return scores_; }
  const std::vector<std::string>& merges() const { return merges_; }

  Metadata metadata() const {
    Metadata metadata;
    metadata.add("tokenizer.ggml.model", MetaValue(model_));
    if (!pre_.empty()) metadata.add("tokenizer.ggml.pre", MetaValue(pre_));
    metadata.add("tokenizer.ggml.tokens", MetaArray(views(tokens_)));
    metadata.add("tokenizer.ggml.token_type", MetaArray(types_));
    metadata.add("tokenizer.ggml.scores", MetaArray(scores_));
    if (!merges_.empty()) metadata.add("tokenizer.ggml.merges", MetaArray(views(merges_)));
    for (const auto& [key, value] : others_) metadata.add(key, value);
    return metadata;
  }

  Result<std::unique_ptr<Tokenizer>> make() const { return make_tokenizer(metadata()); }

 private:
  static std::vector<std::string_view> views(const std::vector<std::string>& strings) {
    return {strings.begin(), strings.end()};
  }

  std::string model_;
  std::string pre_;
  std::vector<std::string> tokens_;
  std::vector<int64_t> types_;
  std::vector<double> scores_;
  std::vector<std::string> merges_;
  std::vector<std::pair<std::string, MetaValue>> others_;
};

/// Byte-level BPE with every byte, merges of some English and of some UTF-8, and ChatML's tokens.
inline VocabularyBuilder small_byte_level(std::string pre = "llama-bpe") {
  VocabularyBuilder builder("gpt2", std::move(pre));
  for (int byte = 0; byte < 256; ++byte) builder.add(std::string(alphabet_character(static_cast<uint8_t>(byte))));
  constexpr std::string_view kMerges[][2] = {
      {"h", "e"},           {"i", "n"},      {"\u0120", "t"}, {"\u0120t", "he"},    {"l", "l"},
      {"he", "ll"},         {"hell", "o"},   {"a", "b"},      {"ab", "ab"},         {"a", "a"},
      {"aa", "aa"},         {"b", "a"},      {"in", "g"},     {"\u0120", "\u0120"}, {"<", "|"},
      {"|", ">"},           {"i", "m"},      {"_", "e"},      {"n", "d"},           {"_e", "nd"},
      {"<|", "im"},         {"1", "2"},      {"12", "3"},     {"\u00E2", "\u0122"}, {"\u00E2\u0122", "\u00AC"},
      {"\u010A", "\u010A"}, {"aaaa", "aaaa"}};
  for (const auto& [left, right] : kMerges) builder.add_merge(std::string(left), std::string(right));
  builder.add("<|endoftext|>", TokenType::kControl);
  builder.add("<|im_start|>", TokenType::kControl);
  builder.add("<|im_end|>", TokenType::kControl);
  builder.add("<think>", TokenType::kUserDefined);
  return builder;
}

/// SentencePiece BPE with byte tokens, some letters and words with scores, and <unk>, <s>, </s>.
inline VocabularyBuilder small_sentencepiece() {
  VocabularyBuilder builder("llama");
  builder.add("<unk>", TokenType::kUnknown);
  builder.add("<s>", TokenType::kControl);
  builder.add("</s>", TokenType::kControl);
  for (int byte = 0; byte < 256; ++byte) builder.add(fmt::format("<0x{:02X}>", byte), TokenType::kByte);
  constexpr std::string_view kPieces[] = {
      "\u2581t", "he",          "in",  "\u2581a", "\u2581the", "ll",           "hell",
      "hello",   "\u2581hello", "ab",  "abab",    "aa",        "aaaa",         "</",
      "</s",     "<0",          "<0x", "<0x4",    "<0x41",     "\u2581\u2581", "\u2581\u2581\u2581\u2581",
      "ba",      "\u00E9t"};
  float score = -1;
  for (std::string_view piece : kPieces) builder.add(std::string(piece), TokenType::kNormal, score -= 1);
  for (std::string_view letter : {"\u2581", "a", "b", "e", "h", "i", "l", "n", "o",      "t",
                                  "s",      "<", "/", ">", "0", "x", "4", "1", "\u00E9", "\u4E2D"}) {
    builder.add(std::string(letter), TokenType::kNormal, score -= 1);
  }
  builder.add("<|im_end|>", TokenType::kControl);
  builder.add("<think>", TokenType::kUserDefined);
  return builder;
}

}  // namespace ferrox::testing
