// Is the token that opens a tool call the one that a family's template writes, and only when it is one token?
#include "engine/call_opener.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/engine.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"
#include "support/tiny_vocabulary.h"
#include "support/vectors.h"

namespace ferrox {
namespace {

/// A tokenizer of the tiny vocabulary with `token` in place of its last.
class TinyTokenizer {
 public:
  explicit TinyTokenizer(const std::string& token) {
    write(token);
    file_ = std::make_unique<GgufFile>(*GgufFile::open(folder_ / "tiny.gguf"));
    tokenizer_ = *make_tokenizer(file_->metadata());
  }
  const Tokenizer& operator*() const { return *tokenizer_; }

 private:
  void write(const std::string& token) const {
    testing::TinyModel model;
    model.n_vocab = testing::kTinyVocabularySize;
    testing::TinyFile tiny = testing::tiny_model(model);
    testing::add_tiny_vocabulary(tiny);
    std::get<std::vector<std::string>>(tiny.keys["tokenizer.ggml.tokens"]).back() = token;
    tiny.write(folder_ / "tiny.gguf");
  }

  testing::TempFolder folder_;
  std::unique_ptr<GgufFile> file_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

constexpr int32_t kLast = testing::kTinyVocabularySize - 1;

TEST(CallOpener, IsTheTokenThatTheTemplateWrites) {
  const TinyTokenizer tokenizer("<tool_call>");
  EXPECT_EQ(find_call_opener("{{ '<tool_call>' + call | tojson + '</tool_call>' }}", *tokenizer), kLast);
  EXPECT_EQ(find_call_opener("{{ message['content'] }}", *tokenizer), -1) << "a template without calls";
  EXPECT_EQ(find_call_opener("", *tokenizer), -1);
  EXPECT_EQ(find_call_opener("[TOOL_CALLS]", *tokenizer), -1) << "an opener that this vocabulary writes in pieces";
}

TEST(CallOpener, OfTwoTheMoreTellingOneCounts) {
  const TinyTokenizer tokenizer("<|python_tag|>");
  EXPECT_EQ(find_call_opener("<|python_tag|>", *tokenizer), kLast);
  EXPECT_EQ(find_call_opener("<|python_tag|> or <tool_call>", *tokenizer), -1);
  EXPECT_EQ(call_opener_text("<|python_tag|> or <tool_call>"), "<tool_call>");
}

/// An opener that another one begins with must not be taken for it.
TEST(CallOpener, SimilarOpenersAreToldApart) {
  EXPECT_EQ(call_opener_text("<|tool_call_begin|>"), "<|tool_call_begin|>");
  EXPECT_EQ(call_opener_text("<|tool_call_start|>"), "<|tool_call_start|>");
  EXPECT_EQ(call_opener_text("<|tool_call|>"), "<|tool_call|>");
  EXPECT_EQ(call_opener_text("<|tool_call>"), "<|tool_call>");
  EXPECT_EQ(call_opener_text("<minimax:tool_call>"), "<minimax:tool_call>");
  EXPECT_EQ(call_opener_text("<tool_calls>"), "<tool_calls>");
}

TEST(CallOpener, OutsideTemplatesNameTheirs) {
  FERROX_VECTORS_OR_SKIP(folder, testing::template_dir());
  const std::pair<const char*, const char*> expected[] = {
      {"Qwen-Qwen2.5-7B-Instruct", "<tool_call>"},
      {"Qwen3-Coder", "<tool_call>"},
      {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "<tool_call>"},
      {"GLM-4.6", "<tool_call>"},
      {"ibm-granite-granite-4.1", "<tool_call>"},
      {"ibm-granite-granite-3.3-2B-Instruct", "<|tool_call|>"},
      {"mistralai-Mistral-Nemo-Instruct-2407", "[TOOL_CALLS]"},
      {"unsloth-mistral-Devstral-Small-2507", "[TOOL_CALLS]"},
      {"Kimi-K2-Instruct", "<|tool_call_begin|>"},
      {"deepseek-ai-DeepSeek-V3.1", "<｜tool▁calls▁begin｜>"},
      {"google-gemma-4-31B-it-interleaved", "<|tool_call>"},
      {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", "<|START_ACTION|>"},
      {"meta-llama-Llama-3.1-8B-Instruct", "<|python_tag|>"},
      {"ByteDance-Seed-OSS", "<seed:tool_call>"},
      {"MiniMax-M1", "<tool_calls>"},
      {"google-gemma-2-2b-it", ""},
      {"microsoft-Phi-3.5-mini-instruct", ""},
  };
  for (const auto& [name, opener] : expected) {
    std::ifstream file(folder / (std::string(name) + ".jinja"));
    ASSERT_TRUE(file) << name;
    std::stringstream source;
    source << file.rdbuf();
    EXPECT_EQ(call_opener_text(source.str()), opener) << name;
  }
  testing::record_vectors(std::size(expected));
}

}  // namespace
}  // namespace ferrox
