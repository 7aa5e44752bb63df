// Which pieces of a text are tokenized on their own? Those that a vocabulary's patterns cut it into.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pre_tokenizer.h"

#include <pcre2.h>

#include <algorithm>
#include <string>

#include "text/utf8.h"

namespace ferrox {

struct PreTokenizer::Pattern {
  struct Release {
    void operator()(pcre2_code* compiled) const { pcre2_code_free(compiled); }
  };
  std::unique_ptr<pcre2_code, Release> code;
  Cut cut;
};

namespace {

struct MatchData {
  struct Release {
    void operator()(pcre2_match_data* matched) const { pcre2_match_data_free(matched); }
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  };
  std::unique_ptr<pcre2_match_data, Release> data{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, Release> patient{pcre2_match_context_create(nullptr)};

  MatchData() {
    CHECK(data != nullptr && patient != nullptr, "out of memory for a match");
    pcre2_set_match_limit(patient.get(), UINT32_MAX);
    pcre2_set_depth_limit(patient.get(), UINT32_MAX);
  }
};

// PCRE2's own \s has U+180E, which left White_Space with Unicode 6.3; the tokenizers' \s doesn't.
std::string expand_spaces(std::string_view pattern) {
  std::string expanded;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view pair = pattern.substr(i, 2);
    if (pair == R"(\s)" || pair == R"(\S)") {
      expanded += pair == R"(\s)" ? R"(\p{White_Space})" : R"(\P{White_Space})";
      ++i;
    } else if (pair.size() == 2 && pair[0] == '\\') {
      expanded += pair;
      ++i;
    } else {
      expanded += pattern[i];
    }
  }
  return expanded;
}

// Looks for a match in subject[from, end); false when there is none. The JIT has a fixed stack and the interpreter
// limits on effort: a subject that exceeds them is matched again without, so no text is refused.
bool next_match(const pcre2_code* code, std::string_view subject, size_t from, MatchData& match, TextPiece& found) {
  const auto* bytes = reinterpret_cast<PCRE2_SPTR>(subject.data());
  int rc = pcre2_match(code, bytes, subject.size(), from, PCRE2_NO_UTF_CHECK, match.data.get(), nullptr);
  if (rc < 0 && rc != PCRE2_ERROR_NOMATCH) {
    rc = pcre2_match(code, bytes, subject.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match.data.get(),
                     match.patient.get());
  }
  if (rc < 0) return false;
  const size_t* bounds = pcre2_get_ovector_pointer(match.data.get());
  found = {static_cast<uint32_t>(bounds[0]), static_cast<uint32_t>(bounds[1] - bounds[0])};
  return true;
}

// Appends pieces of three characters counted from the end of `text`, which starts at `start`; digits may be wide.
void cut_triples(std::string_view text, uint32_t start, std::vector<TextPiece>& pieces) {
  const auto is_lead = [](char byte) { return (static_cast<uint8_t>(byte) & 0xC0) != 0x80; };
  auto n_left = static_cast<size_t>(std::count_if(text.begin(), text.end(), is_lead));
  uint32_t begin = 0;
  for (uint32_t end = 1; end <= text.size(); ++end) {
    if (end < text.size() && !is_lead(text[end])) continue;
    if (--n_left % 3 != 0) continue;
    pieces.push_back({start + begin, end - begin});
    begin = end;
  }
}

// Appends what `code` makes of `piece`: matches, and what lies between them.
void cut_piece(const pcre2_code* code, Cut cut, std::string_view text, TextPiece piece, MatchData& match,
               std::vector<TextPiece>& pieces) {
  const std::string_view subject = text.substr(piece.start, piece.length);
  uint32_t done = 0;
  size_t from = 0;
  TextPiece found;
  while (from < subject.size() && next_match(code, subject, from, match, found)) {
    const uint32_t end = found.start + found.length;
    if (found.length == 0) {  // no pattern of the table does this; never stand still all the same
      from = end + next_utf8(subject.substr(end)).length;
      continue;
    }
    if (found.start > done) pieces.push_back({piece.start + done, found.start - done});
    if (cut == Cut::kWhole) {
      pieces.push_back({piece.start + found.start, found.length});
    } else {
      cut_triples(subject.substr(found.start, found.length), piece.start + found.start, pieces);
    }
    from = done = end;
  }
  if (done < subject.size()) pieces.push_back({piece.start + done, static_cast<uint32_t>(subject.size()) - done});
}

bool is_text(std::string_view text, TextPiece piece) {
  return next_utf8(text.substr(piece.start, piece.length)).kind == Utf8Kind::kCharacter;
}

// Runs of valid characters, and each invalid subpart between them.
std::vector<TextPiece> cut_invalid(std::string_view text) {
  std::vector<TextPiece> runs;
  uint32_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    auto length = static_cast<uint32_t>(valid_utf8_prefix(rest));
    if (length == 0) length = static_cast<uint32_t>(next_utf8(rest).length);
    runs.push_back({at, length});
    at += length;
  }
  return runs;
}

}  // namespace

PreTokenizer::PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

Result<PreTokenizer> PreTokenizer::compile(const PreTokenizerRules& rules) {
  PreTokenizer pre_tokenizer;
  for (const PreTokenizerPass& pass : rules.passes) {
    if (pass.cut == Cut::kNone) break;
    const std::string pattern = expand_spaces(pass.pattern);
    int error = 0;
    size_t at = 0;
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY, &error, &at, nullptr);
    if (code == nullptr) {
      return make_error(ErrorCode::kUnsupported, "pre-tokenizer {}: pcre2 error {} at byte {} of {}", rules.name, error,
                        at, pattern);
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where there is no JIT, matching interprets
    pre_tokenizer.patterns_.push_back(std::make_unique<Pattern>(Pattern{{code, {}}, pass.cut}));
  }
  return pre_tokenizer;
}

std::vector<TextPiece> PreTokenizer::split(std::string_view text) const {
  MatchData match;
  std::vector<TextPiece> pieces = cut_invalid(text);
  std::vector<TextPiece> finer;
  for (const auto& pattern : patterns_) {
    finer.clear();
    finer.reserve(pieces.size());
    for (TextPiece piece : pieces) {
      if (is_text(text, piece)) {
        cut_piece(pattern->code.get(), pattern->cut, text, piece, match, finer);
      } else {
        finer.push_back(piece);
      }
    }
    pieces.swap(finer);
  }
  return pieces;
}

}  // namespace ferrox
