// Does any vocabulary with any text break tokenizing? The first half of the input is the vocabulary, the rest the text.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/tables/pre_tokenizer_rules.h"
#include "text/tokenizer.h"
#include "text/utf8_assembler.h"

namespace {

using namespace ferrox;

// Takes the input apart, byte by byte and string by string; past the end there are zeros.
class Source {
 public:
  Source(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view string(size_t max_bytes) {
    const std::string_view text = rest_.substr(0, std::min<size_t>(byte() % (max_bytes + 1), rest_.size()));
    rest_.remove_prefix(text.size());
    return text;
  }

  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

Metadata make_metadata(Source& source, std::vector<std::string>& strings) {
  Metadata metadata;
  const uint8_t kind = source.byte();
  metadata.add("tokenizer.ggml.model", std::string(kind % 2 == 0 ? "gpt2" : "llama"));
  const auto rows = all_pre_tokenizer_rules();
  metadata.add("tokenizer.ggml.pre", std::string(rows[source.byte() % rows.size()].name));
  const size_t n_tokens = source.byte();
  const size_t n_merges = source.byte();
  strings.reserve(n_tokens + n_merges);  // views into it must stay
  std::vector<std::string_view> tokens;
  std::vector<std::string_view> merges;
  std::vector<int64_t> types;
  std::vector<double> scores;
  for (size_t i = 0; i < n_tokens; ++i) {
    tokens.push_back(strings.emplace_back(source.string(7)));
    types.push_back(source.byte() % 8);
    scores.push_back(source.byte());
  }
  for (size_t i = 0; i < n_merges; ++i) {
    if (kind % 4 == 0 && !tokens.empty()) {  // mostly merges of tokens, or none would ever happen
      const std::string_view left = tokens[source.byte() % tokens.size()];
      const std::string_view right = tokens[source.byte() % tokens.size()];
      strings.push_back(std::string(left) + " " + std::string(right));
    } else {
      strings.emplace_back(source.string(9));
    }
    merges.push_back(strings.back());
  }
  metadata.add("tokenizer.ggml.tokens", MetaArray(tokens));
  metadata.add("tokenizer.ggml.merges", MetaArray(merges));
  if (kind & 16) metadata.add("tokenizer.ggml.token_type", MetaArray(types));
  metadata.add("tokenizer.ggml.scores", MetaArray(scores));
  metadata.add("tokenizer.ggml.add_space_prefix", (kind & 32) != 0);
  metadata.add("tokenizer.ggml.unknown_token_id", uint64_t{source.byte()});
  if (kind & 64) metadata.add("tokenizer.ggml.eot_token_id", uint64_t{source.byte()});
  if (kind & 128) metadata.add("general.name", std::string("phi-3"));
  return metadata;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Source source(data, size);
  std::vector<std::string> strings;
  const Metadata metadata = make_metadata(source, strings);
  const auto tokenizer = make_tokenizer(metadata);
  if (!tokenizer) return 0;
  const size_t n_user = source.byte();
  const std::string_view text = source.rest();
  const std::string_view user = text.substr(0, std::min(n_user, text.size()));
  const std::string_view trusted = text.substr(user.size());
  const std::vector<TextSegment> segments = {{user, SpecialTokens::kAsText}, {trusted, SpecialTokens::kParse}};
  const auto mixed = (*tokenizer)->encode(segments);
  const auto plain = (*tokenizer)->encode(text, SpecialTokens::kAsText);
  (*tokenizer)->encode(text, SpecialTokens::kParse);
  const Vocabulary& vocabulary = (*tokenizer)->vocabulary();
  for (int32_t id : plain) {
    const bool is_fallback = vocabulary.role(TokenRole::kUnknown) == id;
    CHECK(!vocabulary.is_control(id) || is_fallback, "user text holds no control token");
    CHECK(!vocabulary.is_control(id) || !vocabulary.ends_generation(id), "user text holds no end of answer");
  }
  CHECK((*tokenizer)->decode(mixed, SpecialText::kShow), "what was encoded decodes");
  TokenDecoder decoder(**tokenizer, SpecialText::kHide, TokenDecoder::Before::kText);
  Utf8Assembler assembler;
  for (int32_t id : mixed) assembler.push(decoder.push(id));
  assembler.flush();
  return 0;
}
