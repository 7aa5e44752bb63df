// How does text become token ids, and ids become bytes?
#include "text/tokenizer.h"

#include <algorithm>

namespace ferrox {
namespace {

// Merging counts bytes in 32 bits. Text beyond is cut here, wherever that falls; no model has a context for it.
constexpr size_t kMaxRunBytes = size_t{1} << 30;

bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Segments joined, and where in the joined text control tokens may stand.
class JoinedText {
 public:
  explicit JoinedText(std::span<const TextSegment> segments) {
    for (const TextSegment& segment : segments) append(segment, segments.size());
  }

  std::string_view text() const { return text_; }

  // The end of the trusted run that holds byte `position`, 0 when none does. Positions never go down between calls.
  size_t trusted_end(size_t position) {
    while (run_ < runs_.size() && runs_[run_].end <= position) ++run_;
    return run_ < runs_.size() && runs_[run_].begin <= position ? runs_[run_].end : 0;
  }

 private:
  struct Run {
    size_t begin;
    size_t end;
  };

  void append(const TextSegment& segment, size_t n_segments) {
    const size_t begin = text_.size();
    if (n_segments == 1) {
      text_ = segment.text;
    } else {
      storage_.append(segment.text);
      text_ = storage_;
    }
    if (segment.special != SpecialTokens::kParse || segment.text.empty()) return;
    if (!runs_.empty() && runs_.back().end == begin) {
      runs_.back().end = text_.size();
    } else {
      runs_.push_back({begin, text_.size()});
    }
  }

  std::string storage_;  // unused for a single segment
  std::string_view text_;
  std::vector<Run> runs_;  // ascending, apart
  size_t run_ = 0;
};

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    const TokenType type = vocabulary_.type(id);
    if (type == TokenType::kUserDefined) {
      matcher_.add(vocabulary_.text(id), id, SpecialMatcher::Trust::kAnyText);
    } else if (type == TokenType::kControl || type == TokenType::kUnknown) {
      matcher_.add(vocabulary_.text(id), id, SpecialMatcher::Trust::kTrustedText);
    }
  }
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  const TextSegment segment{text, special};
  return encode(std::span(&segment, 1));
}

std::vector<int32_t> Tokenizer::encode(std::span<const TextSegment> segments) const {
  JoinedText joined(segments);
  const std::string_view text = joined.text();
  std::vector<int32_t> ids;
  TextStart start = TextStart::kAfterToken;
  size_t at = 0;
  while (at < text.size()) {
    const SpecialMatcher::Match match =
        matcher_.find(text, at, [&joined](size_t position) { return joined.trusted_end(position); });
    const size_t end = match.id < 0 ? text.size() : match.start;
    while (at < end) {
      const size_t length = std::min(end - at, kMaxRunBytes);
      encode_text(text.substr(at, length), start, ids);
      start = TextStart::kAfterText;
      at += length;
    }
    if (match.id < 0) break;
    ids.push_back(match.id);
    start = TextStart::kAfterToken;
    at += match.length;
    if (!vocabulary_.strips_after_special(match.id)) continue;
    while (at < text.size() && is_ascii_space(text[at])) ++at;
  }
  return ids;
}

std::vector<int32_t> Tokenizer::add_bos(std::vector<int32_t> ids) const {
  const auto bos = vocabulary_.bos();
  if (vocabulary_.adds_bos() && (ids.empty() || ids[0] != *bos)) ids.insert(ids.begin(), *bos);
  return ids;
}

std::string_view Tokenizer::token_bytes(int32_t id, SpecialText special) const {
  if (!vocabulary_.contains(id)) return {};
  const TokenType type = vocabulary_.type(id);
  const bool is_hidden = type == TokenType::kControl || type == TokenType::kUnknown;
  if (is_hidden && special == SpecialText::kHide) return {};
  return token_bytes_[static_cast<size_t>(id)];
}

Result<std::string> Tokenizer::decode(std::span<const int32_t> ids, SpecialText special) const {
  std::string bytes;
  TokenDecoder decoder(*this, special, TokenDecoder::Before::kNothing);
  for (int32_t id : ids) {
    if (!vocabulary_.contains(id)) {
      return make_error(ErrorCode::kInvalidArgument, "token id: expected 0 to {}, found {}", vocabulary_.size() - 1,
                        id);
    }
    bytes += decoder.push(id);
  }
  return bytes;
}

std::string_view TokenDecoder::push(int32_t id) {
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  std::string_view bytes = tokenizer_.token_bytes(id, special_);
  const TokenType type = vocabulary.contains(id) ? vocabulary.type(id) : TokenType::kUnused;
  const bool is_special = type == TokenType::kControl || type == TokenType::kUnknown || type == TokenType::kUserDefined;
  // encode puts a space in front of a text and of what follows a special token
  const bool has_prefix = at_start_ && !is_special && vocabulary.adds_space_prefix();
  at_start_ = is_special;
  if (has_prefix && bytes.starts_with(' ')) bytes.remove_prefix(1);
  return bytes;
}

}  // namespace ferrox
