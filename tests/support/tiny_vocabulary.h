// How does a tiny model get words? A byte-level vocabulary with ChatML's tokens and template, for tests that link
// `text`.
#pragma once

#include <string>
#include <vector>

#include "support/tiny_model.h"
#include "text/byte_alphabet.h"
#include "text/vocabulary.h"

namespace ferrox::testing {

/// 256 bytes, a few merges, <|endoftext|>, <|im_start|>, <|im_end|>.
inline constexpr int kTinyVocabularySize = 264;

/// Writes the vocabulary and a ChatML template into a file of a model with n_vocab = kTinyVocabularySize.
inline void add_tiny_vocabulary(TinyFile& file) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(alphabet_character(static_cast<uint8_t>(byte)));
  const std::vector<std::string> merges = {"h e", "l l", "he ll", "hell o", "i n"};
  for (const std::string& merge : merges) {
    const size_t space = merge.find(' ');
    tokens.push_back(merge.substr(0, space) + merge.substr(space + 1));
  }
  std::vector<int32_t> types(tokens.size(), static_cast<int32_t>(TokenType::kNormal));
  for (const char* control : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) {
    tokens.emplace_back(control);
    types.push_back(static_cast<int32_t>(TokenType::kControl));
  }
  EXPECT_EQ(tokens.size(), static_cast<size_t>(kTinyVocabularySize));
  const auto id_from_end = [&](size_t n) { return static_cast<uint32_t>(tokens.size() - n); };
  file.keys["tokenizer.ggml.model"] = std::string("gpt2");
  file.keys["tokenizer.ggml.pre"] = std::string("llama-bpe");
  file.keys["tokenizer.ggml.bos_token_id"] = id_from_end(3);
  file.keys["tokenizer.ggml.eos_token_id"] = id_from_end(1);
  file.keys["tokenizer.ggml.add_bos_token"] = false;
  file.keys["tokenizer.ggml.tokens"] = tokens;
  file.keys["tokenizer.ggml.token_type"] = types;
  file.keys["tokenizer.ggml.merges"] = merges;
  file.keys["tokenizer.chat_template"] = std::string(
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
      "'\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
}

}  // namespace ferrox::testing
