// How does text become token ids, and ids become bytes?
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gguf/metadata.h"
#include "text/special_matcher.h"
#include "text/string_table.h"
#include "text/vocabulary.h"

namespace ferrox {

/// May this text write control tokens by spelling them?
enum class SpecialTokens {
  kParse,   ///< yes: a template's own text
  kAsText,  ///< no: what a user, a document or a tool wrote
};

/// Is the text of control and unknown tokens part of what decoding gives?
enum class SpecialText { kHide, kShow };

/// A run of text of one origin.
struct TextSegment {
  std::string_view text;
  SpecialTokens special = SpecialTokens::kAsText;
};

/// A vocabulary with its way of cutting text. Immutable after construction: threads may share it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const Vocabulary& vocabulary() const { return vocabulary_; }

  /// Ids of `text`, without BOS or EOS. Any bytes are accepted; text that isn't UTF-8 goes through byte by byte where
  /// the vocabulary has byte tokens. At worst n log n in the text's size.
  std::vector<int32_t> encode(std::string_view text, SpecialTokens special) const;

  /// Ids of the segments' texts joined. A control token comes out only where its whole text lies in segments that may
  /// write one; otherwise borders don't show: segments of one kind give what encode gives of their joined text.
  std::vector<int32_t> encode(std::span<const TextSegment> segments) const;

  /// `ids` with BOS in front, when the vocabulary asks for it and they don't begin with it already.
  std::vector<int32_t> add_bos(std::vector<int32_t> ids) const;

  /// The bytes of token `id` in the middle of a text; they may end inside a character. An id that the vocabulary
  /// doesn't contain has none: a model may have more rows of logits than its vocabulary has tokens. Valid as long as
  /// the tokenizer.
  std::string_view token_bytes(int32_t id, SpecialText special) const;

  /// The bytes of a whole text, without the space that encode put in front of it (adds_space_prefix).
  /// Errors: kInvalidArgument for an id that the vocabulary doesn't contain.
  Result<std::string> decode(std::span<const int32_t> ids, SpecialText special) const;

 protected:
  explicit Tokenizer(Vocabulary vocabulary);

  /// What the tokens' bytes are; called once by the constructor of each kind.
  void set_token_bytes(StringTable bytes) { token_bytes_ = std::move(bytes); }

  /// Where a run of ordinary text begins.
  enum class TextStart { kAfterText, kAfterToken };

  /// Appends the ids of a run in which no special token stands. `text` is not empty and below 2 GiB.
  virtual void encode_text(std::string_view text, TextStart start, std::vector<int32_t>& ids) const = 0;

 private:
  Vocabulary vocabulary_;
  StringTable token_bytes_;
  SpecialMatcher matcher_;
};

/// The bytes of ids one by one, as `decode` gives them.
class TokenDecoder {
 public:
  /// What stands before the first token: kNothing drops the space that encode puts in front of a text.
  enum class Before { kNothing, kText };

  TokenDecoder(const Tokenizer& tokenizer, SpecialText special, Before before)
      : tokenizer_(tokenizer), special_(special), at_start_(before == Before::kNothing) {}

  /// The bytes that token `id` adds, none for an unknown one. Valid as long as the tokenizer.
  std::string_view push(int32_t id);

 private:
  const Tokenizer& tokenizer_;
  SpecialText special_;
  bool at_start_;
};

/// The tokenizer of a model file. Errors: as Vocabulary::load; kUnsupported for a kind or a pre-tokenizer that isn't
/// known, by name; kCorrupt for merges or byte tokens that make no sense.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const Metadata& metadata);

}  // namespace ferrox
